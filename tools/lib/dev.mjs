import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @param {string} folder */
export const devFile = (folder) => join(folder, 'dev.json');

/**
 * The running product, or undefined when none runs.
 *
 * @param {string} folder
 * @returns {import('./types.js').Dev | undefined}
 */
export function readDev(folder) {
  const file = devFile(folder);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}
