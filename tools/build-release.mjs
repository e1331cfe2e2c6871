// Builds the newest release beside the working copy: node tools/build-release.mjs FOLDER
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { run } from './lib/processes.mjs';
import { script, step, Trouble } from './lib/progress.mjs';
import { appNames, repoRoot } from './lib/repo.mjs';

const help = `
node tools/build-release.mjs FOLDER

Puts the newest release of tools/releases.json into the empty FOLDER, as its commit has it, and bundles its apps
there. It is found by its commit: a clone may have no tags. A clone without its history has to fetch it first.`;

/** Each has a lock of its own: what is installed here for the same lock is used again. */
const installs = ['.', 'apps/runner/packages'];

await script(help, async ([given]) => {
  if (given === undefined) throw new Trouble('Which folder?');
  const folder = resolve(given);
  mkdirSync(folder, { recursive: true });
  const { version, commit } = newestRelease();
  await step(`release ${version}`, () => putInto(folder, commit));
  for (const place of installs) {
    await step(`packages of ${version} in ${place}`, () => install(join(folder, place), place));
  }
  await step(`build of ${version}`, async () => {
    const apps = appNames.map((name) => `apps/${name}`);
    await succeed(process.execPath, [join(folder, 'tools', 'build.mjs'), ...apps], folder);
  });
});

/** @returns {{ version: string, commit: string }} */
function newestRelease() {
  const releases = JSON.parse(readFileSync(join(repoRoot, 'tools', 'releases.json'), 'utf8'));
  return releases.at(-1);
}

/**
 * @param {string} folder
 * @param {string} commit
 */
async function putInto(folder, commit) {
  const known = await run('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: repoRoot });
  if (known.code !== 0) {
    throw new Trouble(
      `This clone does not have commit ${commit}. A shallow one gets its history by git fetch --unshallow.`,
    );
  }
  const archive = join(folder, 'release.tar');
  await succeed('git', ['archive', `--output=${archive}`, commit], repoRoot);
  await succeed('tar', ['-xf', archive], folder);
}

/**
 * @param {string} into
 * @param {string} place
 */
async function install(into, place) {
  const here = join(repoRoot, place);
  const lockOf = (/** @type {string} */ root) =>
    readFileSync(join(root, 'package-lock.json'), 'utf8');
  const isSame = lockOf(into) === lockOf(here) && existsSync(join(here, 'node_modules'));
  if (isSame) symlinkSync(join(here, 'node_modules'), join(into, 'node_modules'));
  else await succeed('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], into);
  return isSame ? 'those of the working copy: the lock is the same' : 'npm ci';
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 */
async function succeed(command, args, cwd) {
  const { code, output } = await run(command, args, { cwd, timeoutMs: 300_000 });
  if (code !== 0) throw new Trouble(`${command} ${args[0]} failed:\n${output.trim()}`);
}
