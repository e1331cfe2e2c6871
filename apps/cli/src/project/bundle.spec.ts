import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bundle } from './bundle';
import { Positions, type CodePlace } from './positions';

const root = mkdtempSync(join(tmpdir(), 'glovebox-bundled-'));
afterAll(() => rmSync(root, { recursive: true }));

const file = 'reactors/total/code.ts';
const files = {
  [file]: `import { add } from '../../lib/add';
export default async ({ args }: { args: { some: number[] } }) => ({ raw: args.some.reduce(add, 0) });
`,
  'lib/add.ts': `export const add = (one: number, other: number): number => one + other;
`,
};

beforeAll(() => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
});

const bundled = () => bundle(root, { file, runtime: 'node20' });

/** Where the code says this. */
function placeIn(code: string, text: string): CodePlace {
  const before = code.slice(0, code.indexOf(text)).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

it('the files of a bundle are those of the author, without the line that the bundler adds', async () => {
  const { inputs } = await bundled();
  expect([...inputs].sort()).toEqual(Object.keys(files).sort());
});

it('a place in a bundle is that of the file it came from, and the line of the bundler has none', async () => {
  const made = await bundled();
  const positions = new Positions(root, made);
  const place = positions.placeOf(placeIn(made.code, 'one + other'));
  expect(place).toMatchObject({ file: 'lib/add.ts', line: 1 });
  expect(place && positions.excerpt(place)).toContain('1 | export const add');
  const { line, column } = placeIn(made.code, 'module.exports = code');
  expect(positions.placeOf({ line, column })).toBeUndefined();
  const text = `at reactor.js:${line}:${column}`;
  expect(positions.inText(text)).toBe(text);
});
