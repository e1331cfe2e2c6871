import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const root = join(__dirname, '../../..');

/** The rows of the table of faults: what happens, the test that tries it, and what becomes of it. */
function rows(): readonly {
  readonly fault: string;
  readonly file: string;
  readonly result: string;
}[] {
  const page = readFileSync(join(root, 'docs/failure-modes.md'), 'utf8');
  const [, chapter = ''] = page.split('## Faults that are tried\n');
  return [...chapter.matchAll(/^\| (.*?) +\| \[[^\]]*\]\(\.\.\/([^)]*)\) +\| (.*?) +\|$/gm)].map(
    ([, fault = '', file = '', result = '']) => ({ fault, file, result }),
  );
}

it('each fault that is documented has a test that exists, and a result', () => {
  expect(rows().length).toBeGreaterThan(25);
  const wrong = rows().filter(
    ({ file, result }) => !existsSync(join(root, file)) || result.length < 5,
  );
  expect(wrong).toEqual([]);
});

it('each test of faults of the whole product is in the table', () => {
  const named = rows().map(({ file }) => basename(file));
  const tests = readdirSync(join(root, 'acceptance/faults')).filter((name) =>
    name.endsWith('.faults.ts'),
  );
  expect(tests.filter((name) => !named.includes(name))).toEqual([]);
});
