import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './processes.mjs';
import { step, together, Trouble } from './progress.mjs';
import { repoRoot } from './repo.mjs';

/**
 * The Node versions for reactors are installed apart: their `bin` in the root would shadow `node`.
 * The packages for reactors are, too: nothing of the product uses them.
 */
const folders = [
  { name: 'dependencies', path: repoRoot },
  { name: 'runtimes of the runner', path: join(repoRoot, 'apps', 'runner', 'runtimes') },
  { name: 'packages of the runner', path: join(repoRoot, 'apps', 'runner', 'packages') },
];

export async function installDependencies() {
  const missing = folders.filter(
    ({ path }) => existsSync(join(path, 'package-lock.json')) && !isInstalled(path),
  );
  await together(
    missing.map(
      ({ name, path }) =>
        (signal) =>
          step(`install ${name} (npm ci)`, () => install(path), signal),
    ),
  );
}

/** @param {string} folder */
async function install(folder) {
  const npm = process.env.npm_execpath;
  const [command, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { code, output } = await run(command, [...first, ...args], { cwd: folder });
  if (code === 0) return;
  throw new Trouble(
    `npm ci failed in ${folder}. Is the registry reachable (npm ping)?\n${output.trim()}`,
  );
}

/**
 * npm writes the lock of the installed packages as its last act; it must agree with our lock.
 *
 * @param {string} folder
 */
function isInstalled(folder) {
  const hidden = join(folder, 'node_modules', '.package-lock.json');
  if (!existsSync(hidden)) return false;
  const installed = packagesOf(hidden);
  const wanted = packagesOf(join(folder, 'package-lock.json'));
  const rightVersions = Object.entries(installed).every(
    ([path, { version }]) => wanted[path]?.version === version,
  );
  const nothingMissing = Object.entries(wanted).every(
    ([path, entry]) =>
      path === '' || entry.optional || entry.peer || entry.devOptional || installed[path],
  );
  return rightVersions && nothingMissing;
}

/**
 * @param {string} lockFile
 * @returns {Record<string, { version?: string, optional?: boolean, peer?: boolean, devOptional?: boolean }>}
 */
function packagesOf(lockFile) {
  return JSON.parse(readFileSync(lockFile, 'utf8')).packages ?? {};
}
