import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const devFile = (folder) => join(folder, 'dev.json');

/** What `npm start` tells scripts about the product that runs, or undefined when none does. */
export function readDev(folder) {
  const file = devFile(folder);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}
