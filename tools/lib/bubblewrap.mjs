import { spawnSync } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fromDebianPackages, hasApt } from './debian-packages.mjs';
import { plainEnvironment } from './postgres.mjs';
import { reachableFolder, serviceUser } from './reachable.mjs';
import { repoRoot } from './repo.mjs';

const retryAfterMs = 60 * 60_000;

/**
 * bubblewrap gives sandboxes their third level where the kernel lets anybody make user namespaces.
 * Either `command`, a bwrap that works here for users without privileges, or `missing`: why not.
 *
 * @returns {Promise<import('./types.js').FoundBubblewrap>}
 */
export async function findBubblewrap() {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const command = join(folder, 'bwrap');
    if (existsSync(command) && works({ command })) return { command };
  }
  if (!maybeNamespaces()) return { missing: 'user namespaces are denied here' };
  if (!hasApt()) return { missing: 'bubblewrap is not installed, nor apt to fetch it' };
  const note = join(reachableFolder(join(repoRoot, '.glovebox', 'bin')), 'no-bubblewrap');
  if (wasWrittenLately(note)) return { missing: 'bubblewrap could not be fetched lately' };
  const unpacked = await fromDebianPackages({
    name: 'bubblewrap',
    program: 'bwrap',
    packages: ['bubblewrap'],
    works,
  });
  if (unpacked) return { command: unpacked.command };
  // A machine without a network would wait for it at every start.
  writeFileSync(note, '');
  return { missing: 'bubblewrap is not installed, and could not be fetched' };
}

/**
 * Alone, as the runner starts it: nothing of the environment may be needed.
 *
 * @param {{ command: string }} program
 */
function works({ command }) {
  const namespaces = ['--unshare-all', '--ro-bind', '/', '/', '--', '/bin/true'];
  return spawnSync(command, namespaces, { ...serviceUser, env: {}, cwd: '/' }).status === 0;
}

/** Where there is no unshare to ask, only bubblewrap itself can tell. */
function maybeNamespaces() {
  const options = { ...serviceUser, env: plainEnvironment(), cwd: '/' };
  const { error, status } = spawnSync('unshare', ['--user', '--map-root-user', 'true'], options);
  return error !== undefined || status === 0;
}

/** @param {string} file */
function wasWrittenLately(file) {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs < retryAfterMs;
}
