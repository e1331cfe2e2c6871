// Named imports of newer functions would end an older Node before it is told which one is needed.
import fs, { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { Trouble } from './progress.mjs';

/** An empty database with its log, Redis and the logs of the apps, and some room to work. */
const freeBytesMin = 512 * 1024 * 1024;
const chooseOther = 'Choose a folder of your own: GLOVEBOX_DIR=$HOME/glovebox npm start';

/**
 * Makes the folder of data, keys and logs, and refuses one that the product could not work in.
 *
 * @param {string} folder
 * @param {{ freeBytes?: (folder: string) => number }} [options]
 */
export function prepareStateFolder(folder, { freeBytes = freeBytesOf } = {}) {
  // It stands in the settings of Postgres and Redis.
  if (/["'\\\p{Cc}]/u.test(folder)) {
    throw new Trouble(
      `${JSON.stringify(folder)} has a quote, a backslash or a control character in it. ${chooseOther}`,
    );
  }
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    throw new Trouble(`Data, keys and logs cannot be kept in ${folder} (${code}). ${chooseOther}`);
  }
  const free = freeBytes(folder);
  if (free >= freeBytesMin) return;
  throw new Trouble(
    `Only ${megabytes(free)} MB are free on the disk of ${folder}; Glovebox needs ${megabytes(freeBytesMin)} MB. ` +
      `Free some (npm start -- --reset removes the data of the embedded set-up), or choose a folder on another disk: GLOVEBOX_DIR=/other npm start`,
  );
}

/**
 * Each folder by itself: with `recursive`, Node never returns from where nothing can be made (/proc).
 *
 * @param {string} folder
 */
function makeFolder(folder) {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o711 });
}

/** @param {string} folder */
function freeBytesOf(folder) {
  const { bavail, bsize } = fs.statfsSync(folder);
  return bavail * bsize;
}

/** @param {number} bytes */
const megabytes = (bytes) => Math.floor(bytes / (1024 * 1024));
