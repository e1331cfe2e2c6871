import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repoRoot = fileURLToPath(new URL('../..', import.meta.url)).replace(/[/\\]$/, '');

const defaultStateFolder = join(repoRoot, '.glovebox');

/**
 * Data, secrets and logs of `npm start`. GLOVEBOX_DIR lets a second copy run beside the first. A
 * relative one begins at the repository: the scripts are called from many folders.
 */
export const stateFolder = resolve(repoRoot, process.env.GLOVEBOX_DIR || defaultStateFolder);
export const isDefaultFolder = stateFolder === defaultStateFolder;

export const appNames = ['management-api', 'gateway', 'worker', 'runner'];

/**
 * @param {string} app
 * @param {string} file
 */
export const entryPoint = (app, file = 'main.js') => join(repoRoot, 'dist', 'apps', app, file);
