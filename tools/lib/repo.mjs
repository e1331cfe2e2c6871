import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repoRoot = fileURLToPath(new URL('../..', import.meta.url)).replace(/[/\\]$/, '');

/** Data, secrets and logs of `npm start`. GLOVEBOX_DIR lets a second copy run beside the first. */
export const stateFolder = resolve(process.env.GLOVEBOX_DIR || join(repoRoot, '.glovebox'));

export const appNames = ['management-api', 'gateway', 'worker', 'runner'];

/**
 * @param {string} app
 * @param {string} file
 */
export const entryPoint = (app, file = 'main.js') => join(repoRoot, 'dist', 'apps', app, file);
