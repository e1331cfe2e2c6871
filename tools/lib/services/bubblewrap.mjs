import { spawnSync } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fromDebianPackages, hasApt } from './debian-packages.mjs';
import { plainEnvironment } from './postgres.mjs';
import { reachableFolder, serviceUser } from './reachable.mjs';
import { repoRoot } from '../repo.mjs';

const retryAfterMs = 60 * 60_000;

/**
 * Finds bubblewrap, which gives sandboxes level 3 where the kernel allows user namespaces to
 * everybody. Returns a `command` that works here without privileges, or the reason in `missing`.
 *
 * @returns {Promise<import('../types.js').FoundBubblewrap>}
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
  // Without this note a machine without a network would wait at every start.
  writeFileSync(note, '');
  return { missing: 'bubblewrap is not installed, and could not be fetched' };
}

/**
 * Runs it as the runner does, with an empty environment.
 *
 * @param {{ command: string }} program
 */
function works({ command }) {
  const namespaces = ['--unshare-all', '--ro-bind', '/', '/', '--', '/bin/true'];
  return spawnSync(command, namespaces, { ...serviceUser, env: {}, cwd: '/' }).status === 0;
}

/** Without the program unshare, only bubblewrap itself can tell. */
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
