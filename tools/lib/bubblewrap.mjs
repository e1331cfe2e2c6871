import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fromDebianPackages } from './debian-packages.mjs';
import { plainEnvironment } from './postgres.mjs';

/**
 * bubblewrap gives sandboxes their third layer where the kernel lets anybody make user namespaces.
 * The path of a bwrap that works here, or undefined: then the second level is as far as it goes.
 */
export async function findBubblewrap() {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const command = join(folder, 'bwrap');
    if (existsSync(command) && works({ command, env: plainEnvironment() })) return command;
  }
  const unpacked = await fromDebianPackages({
    name: 'bubblewrap',
    program: 'bwrap',
    packages: ['bubblewrap'],
    works,
  });
  return unpacked?.command;
}

function works({ command, env }) {
  const namespaces = ['--unshare-all', '--ro-bind', '/', '/', '--', 'true'];
  return spawnSync(command, namespaces, { env, cwd: '/' }).status === 0;
}
