import { createHash } from 'node:crypto';
import { createReadStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { npmCommand } from '../install.mjs';
import { run } from '../processes.mjs';
import { Trouble } from '../progress.mjs';

const timeoutMs = 4 * 60_000;

/**
 * Fetches a package of npm and unpacks some of its files, without installing it. `integrity` is the
 * one of the registry: other bytes are refused.
 *
 * @param {{ name: string, integrity: string, files: readonly string[] }} source
 * @param {string} folder
 */
export async function unpackNpmPackage({ name, integrity, files }, folder) {
  const [npm, first] = npmCommand();
  const flags = ['--loglevel=error', '--fetch-retries=1', '--fetch-timeout=60000'];
  const options = { cwd: folder, env: process.env, timeoutMs };
  const packed = await run(npm, [...first, 'pack', ...flags, name], options);
  if (packed.timedOut) {
    throw new Trouble(`npm did not fetch ${name} within ${timeoutMs / 60_000} minutes`);
  }
  if (packed.code !== 0) {
    throw new Trouble(`npm could not fetch ${name}:\n${packed.output.trim()}`);
  }
  const archive = join(folder, packed.output.trim().split('\n').at(-1) ?? '');
  const hash = createHash('sha512');
  await pipeline(createReadStream(archive), hash);
  const found = `sha512-${hash.digest('base64')}`;
  if (found !== integrity) throw new Trouble(`${name} is not the package that is known: ${found}`);
  const unpack = ['-xzf', archive, '--no-same-owner', '-C', folder, ...files];
  const { code, output } = await run('tar', unpack);
  rmSync(archive);
  if (code !== 0) throw new Trouble(`${name} could not be unpacked: ${output.trim()}`);
}
