import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { scriptEnvironment } from './product';

const root = join(__dirname, '..');

/** All that the README asks its reader to paste: the blocks fenced as `sh tour`, in order. */
function tourOf(markdown: string): string {
  return [...markdown.matchAll(/^```sh tour\n([\s\S]*?)^```$/gm)]
    .map(([, block]) => block)
    .join('');
}

const environment = scriptEnvironment();
const folder = mkdtempSync(join(tmpdir(), 'glovebox-readme-'));

beforeAll(() => symlinkSync(join(__dirname, 'curl.mjs'), join(folder, 'curl')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('the tour of the README works when it is pasted', () => {
  const tour = tourOf(readFileSync(join(root, 'README.md'), 'utf8'));
  const output = execFileSync('sh', ['-eu'], {
    cwd: root,
    env: { ...environment, PATH: [folder, environment.PATH].join(delimiter) },
    input: tour,
    encoding: 'utf8',
    timeout: 20_000,
  });
  // The token is shown without its data, the destination has seen the card, the reactor its end.
  const [token = '', rest = ''] = output.split('}{', 1).concat(output.slice(output.indexOf('}{')));
  expect(token).toContain('"type":"token"');
  expect(token).not.toContain('4242');
  expect(rest).toContain('4242424242424242');
  expect(rest).toContain('{"raw":{"last4":"4242"}}');
  expect(rest).toContain('async_request_id');
  expect(rest).toMatch(/webhook-signature/);
});

it('every command of package.json that the README names exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const named = readFileSync(join(root, 'README.md'), 'utf8').matchAll(
    /(?:^|`)npm (?:run )?([a-z:]+)/gm,
  );
  for (const [, name] of named) {
    if (name !== undefined) expect(scripts).toHaveProperty([name]);
  }
});
