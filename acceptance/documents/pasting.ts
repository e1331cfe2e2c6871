import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { scriptEnvironment } from '../product';

export const repository = join(__dirname, '../..');

/**
 * Pastes the blocks into one shell, one after the other, and returns the output of each. The shell
 * runs in a folder with the repository's tools and docs, a curl, these files and these programs.
 */
export async function paste(
  blocks: readonly string[],
  files: Readonly<Record<string, string>> = {},
  environment = scriptEnvironment(),
  programs: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-pasted-'));
  const bin = join(folder, 'bin');
  try {
    mkdirSync(bin);
    for (const [name, file] of Object.entries({ curl: join(__dirname, 'curl.mjs'), ...programs })) {
      symlinkSync(file, join(bin, name));
    }
    for (const name of ['tools', 'docs']) symlinkSync(join(repository, name), join(folder, name));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const shell = promisify(execFile)('sh', ['-eu'], {
      cwd: folder,
      env: { ...environment, PATH: [bin, environment.PATH].join(delimiter) },
      timeout: 110_000,
    });
    shell.child.stdin?.end(blocks.map((block) => `${block}\nprintf '\\036'\n`).join(''));
    return (await shell).stdout.split('\x1e').slice(0, -1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
