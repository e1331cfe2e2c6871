import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { plainEnvironment } from './postgres.mjs';
import { run } from '../processes.mjs';
import { reachableFolder, serviceFolder, serviceUser } from './reachable.mjs';
import { repoRoot } from '../repo.mjs';

export const hasApt = () => spawnSync('apt-get', ['--version']).status === 0;

/**
 * Unpacks a program from Debian packages into a folder, which needs no root. Returns undefined
 * where there is no apt, or where the program does not work even with the packages of `maybe`.
 *
 * @param {{
 *   name: string,
 *   program: string,
 *   packages: readonly string[],
 *   maybe?: readonly string[],
 *   withDependencies?: boolean,
 *   works: (program: import('../types.js').Program) => boolean,
 *   folder?: string,
 * }} options
 * @returns {Promise<import('../types.js').Program | undefined>}
 */
export async function fromDebianPackages({ name, program, packages, maybe = [], works, ...more }) {
  if (!hasApt()) return undefined;
  const folder = more.folder ?? reachableFolder(join(repoRoot, '.glovebox', 'bin'));
  const unpacked = join(folder, name);
  if (!existsSync(unpacked)) {
    const draft = serviceFolder(join(folder, `${name}.${process.pid}`));
    await fetchAndUnpack(draft, {
      packages,
      maybe,
      withDependencies: more.withDependencies ?? false,
      works: () => works(programIn(draft, program)),
    });
    rmSync(unpacked, { recursive: true, force: true });
    renameSync(draft, unpacked);
  }
  // Programs are not secret, and sandboxes run as users of their own.
  if ((statSync(unpacked).mode & 0o777) !== 0o755) chmodSync(unpacked, 0o755);
  const found = programIn(unpacked, program);
  if (works(found)) return found;
  rmSync(unpacked, { recursive: true, force: true });
  return undefined;
}

/**
 * @param {string} folder
 * @param {string} program
 */
function programIn(folder, program) {
  const libraries = ['usr/lib', 'lib']
    .map((name) => join(folder, 'root', name))
    .flatMap((lib) => (existsSync(lib) ? readdirSync(lib).map((name) => join(lib, name)) : []))
    .filter((lib) => lib.endsWith('-linux-gnu'))
    // libpulse looks for its second half in a folder of its own, by the path of an installation.
    .flatMap((lib) => [lib, join(lib, 'pulseaudio')]);
  return {
    command: join(folder, 'root', 'usr', 'bin', program),
    env: { ...plainEnvironment(), LD_LIBRARY_PATH: libraries.join(':') },
    from: 'Debian package, unpacked',
  };
}

/**
 * @param {string} folder
 * @param {{ packages: readonly string[], maybe: readonly string[], withDependencies: boolean, works: () => boolean }} options
 */
async function fetchAndUnpack(folder, { packages, maybe, withDependencies, works }) {
  // The environment of the caller may name an HTTP proxy. Its PATH may be closed to other users.
  const PATH = [process.env.PATH, '/usr/sbin', '/usr/bin', '/sbin', '/bin'].join(delimiter);
  const options = { ...serviceUser, cwd: folder, env: { ...process.env, PATH, HOME: folder } };
  const timeouts = ['http', 'https'].flatMap((name) => ['-o', `Acquire::${name}::Timeout=15`]);
  // Downloads what an installation would need on this machine, which needs no root.
  const installable = ['install', '--download-only', '--no-install-recommends', '--yes'].concat(
    ['Debug::NoLocking=1', `Dir::Cache::archives=${folder}`].flatMap((value) => ['-o', value]),
  );
  if (withDependencies) serviceFolder(join(folder, 'partial'));
  /** @param {readonly string[]} args */
  const apt = (args) => run('apt-get', [...timeouts, ...args], options);
  /**
   * @param {readonly string[]} names
   * @param {readonly string[]} more
   */
  const download = (names, more) =>
    apt([...more, ...(withDependencies ? installable : ['download']), '-q', ...names]);
  /** @type {string[]} */
  let lists = [];
  if ((await download(packages, [])).code !== 0) {
    // This machine has no package lists: fetch them into the folder, which needs no root either.
    const state = serviceFolder(join(folder, 'lists'));
    // Each by itself: of a whole path only the last folder would belong to the services.
    for (const part of ['lists', 'lists/partial', 'archives', 'archives/partial']) {
      serviceFolder(join(state, part));
    }
    lists = ['-o', `Dir::State=${state}`, '-o', `Dir::Cache=${state}`];
    await apt([...lists, 'update', '-q']);
    await download(packages, lists);
  }
  await unpackAll(folder, options);
  if (works()) return;
  for (const name of maybe) await download([name], lists);
  await unpackAll(folder, options);
}

/**
 * @param {string} folder
 * @param {import('../processes.mjs').RunOptions} options
 */
async function unpackAll(folder, options) {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.deb'))) {
    await run('dpkg', ['-x', name, 'root'], options);
    rmSync(join(folder, name));
  }
}
