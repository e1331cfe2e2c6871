import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { glovebox } from '../spec-program';

const root = mkdtempSync(join(tmpdir(), 'glovebox-pushed-'));
afterAll(() => rmSync(root, { recursive: true }));

function write(name: string, text: string): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
}

it('a slow bundler is waited for with words', async () => {
  write('glovebox.yaml', 'version: 1\n');
  write('reactors/hello/reactor.yaml', 'name: Hello\n');
  write(
    'reactors/hello/code.ts',
    "import { raw } from './slow';\nexport default () => ({ raw });\n",
  );
  // Whoever reads a pipe waits for whoever writes it.
  execFileSync('mkfifo', [join(root, 'reactors/hello/slow.ts')]);
  const ended = await glovebox(['push'], {
    ...{ cwd: root, env: { GLOVEBOX_URL: 'http://127.0.0.1:9', GLOVEBOX_KEY: 'key_of_tests' } },
    hear: (stderr) => {
      if (stderr === '… bundling\n') write('reactors/hello/slow.ts', 'export const raw = 1;\n');
    },
  });
  expect(ended).toMatchObject({ code: 5, stdout: '' });
});
