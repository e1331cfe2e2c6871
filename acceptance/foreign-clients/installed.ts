import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** What is fetched and built for foreign clients stays here. */
export const keptFolder = join(__dirname, '../../.glovebox/foreign-clients');

/** The package as npm has it, in a folder of its own that stays. */
export async function installed(name: string, version: string): Promise<string> {
  const place = join(keptFolder, `${name.replace(/^@.*\//, '')}-${version}`);
  if (existsSync(join(place, 'node_modules'))) return place;
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), '{"private":true}');
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--save-exact'];
  await promisify(execFile)('npm', [...args, `${name}@${version}`], { cwd: place });
  return place;
}
