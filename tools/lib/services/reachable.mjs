import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Trouble } from '../progress.mjs';

const isRoot = process.getuid?.() === 0;
const nobody = { uid: 65534, gid: 65534 };

/**
 * Postgres refuses to run as root: a root starts the services as nobody.
 *
 * @type {import('../types.js').ServiceUser}
 */
export const serviceUser = isRoot ? nobody : {};

/**
 * Returns the folder if the services can reach it, else another one (root's home has mode 0700).
 *
 * @param {string} wanted
 */
export function reachableFolder(wanted) {
  mkdirSync(wanted, { recursive: true, mode: isRoot ? 0o711 : 0o700 });
  return isReachable(wanted) ? wanted : folderElsewhere(wanted);
}

/**
 * All folders that may hold data of this state folder. Creates nothing.
 *
 * @param {string} folder
 */
export const possibleFolders = (folder) => [
  folder,
  elsewhere(folder),
  elsewhere(join(folder, 'runner')),
  elsewhere(join(elsewhere(folder), 'runner')),
];

/** @param {string} folder */
function isReachable(folder) {
  return !isRoot || spawnSync('/bin/sh', ['-c', 'test -x "$0"', folder], serviceUser).status === 0;
}

/** @param {string} wanted */
function elsewhere(wanted) {
  // /var/tmp survives a restart of the machine, /tmp often does not.
  const base = existsSync('/var/tmp') ? '/var/tmp' : tmpdir();
  const name = createHash('sha256').update(wanted).digest('hex').slice(0, 12);
  return join(base, `glovebox-${name}`);
}

/**
 * Returns a folder of ours with a short path, the same one at each start.
 *
 * @param {string} wanted
 */
export function folderElsewhere(wanted) {
  const folder = elsewhere(wanted);
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o711 });
  const stat = lstatSync(folder);
  // Anyone may create folders there: one that is not ours could be a trap.
  if (!stat.isDirectory() || stat.uid !== process.getuid?.()) {
    throw new Trouble(`${folder} exists and is not ours. Remove it, then start again.`);
  }
  chmodSync(folder, 0o711);
  if (!isReachable(folder)) {
    throw new Trouble(`The user of the services (uid ${serviceUser.uid}) cannot reach ${folder}.`);
  }
  return folder;
}

/**
 * Creates a private folder that belongs to the user of the services.
 *
 * @param {string} path
 */
export function serviceFolder(path) {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  giveToServices(path);
  return path;
}

/** @param {string} path */
export function giveToServices(path) {
  if (isRoot) chownSync(path, nobody.uid, nobody.gid);
}
