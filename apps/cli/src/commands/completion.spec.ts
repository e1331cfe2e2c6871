import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { contextOf, type Context } from '../context';
import { AuthorsFolder, interruptionsOf } from '../run/spec-lender';
import { complete, completion } from './completion';

let folder: AuthorsFolder;
let said: string;
beforeEach(() => {
  folder = new AuthorsFolder();
  said = '';
});
afterEach(() => folder.remove());

function contextOfAuthor(): Context {
  const stdout = new Writable({
    write(chunk, _, done) {
      said += String(chunk);
      done();
    },
  }) as unknown as typeof process.stdout;
  const at = { cwd: () => folder.path, stdout, stderr: process.stderr };
  return contextOf({ color: false }, folder.env, at, interruptionsOf().interruptions);
}

it('names of reactors and proxies are offered, and no other names of folders', () => {
  writeFileSync(join(folder.path, 'glovebox.yaml'), 'version: 1\n');
  for (const name of ['charge', 'refund', '$(touch x)', '`touch x`', 'a b', '.git', 'a\nb']) {
    mkdirSync(join(folder.path, 'reactors', name), { recursive: true });
  }
  complete(contextOfAuthor(), {}, 'dev', '');
  expect(said).toBe('charge\nrefund\n');
});

it('bash takes offered words as they are, and carries nothing out that stands in them', () => {
  completion(contextOfAuthor(), {}, 'bash');
  const words = ['$(touch carried-out)', '`touch carried-out`', '*', 'a b', 'charge'];
  const asked = `
glovebox() { printf '%s\\n' "$*" > asked; printf '%s\\n' "\${OFFERED[@]}"; }
COMP_WORDS=(glovebox dev ''); COMP_CWORD=2
_glovebox
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const script = `OFFERED=("$@")\n${said}\n${asked}`;
  const completed = execFileSync('bash', ['-c', script, 'bash', ...words], {
    cwd: folder.path,
    encoding: 'utf8',
  });
  expect(completed.split('\n').slice(0, -1)).toEqual(words);
  expect(readFileSync(join(folder.path, 'asked'), 'utf8')).toBe('complete -- dev \n');
  expect(existsSync(join(folder.path, 'carried-out'))).toBe(false);
});
