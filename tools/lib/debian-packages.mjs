import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { plainEnvironment } from './postgres.mjs';
import { run } from './processes.mjs';
import { reachableFolder, serviceFolder, serviceUser } from './reachable.mjs';
import { repoRoot } from './repo.mjs';

/**
 * A program from Debian's packages, unpacked into a folder, which needs no root. Undefined where
 * there is no apt, or where the program does not work even with the packages that may be missing.
 */
export async function fromDebianPackages({ name, program, packages, maybe = [], works }) {
  if (spawnSync('apt-get', ['--version']).status !== 0) return undefined;
  const folder = reachableFolder(join(repoRoot, '.glovebox', 'bin'));
  const unpacked = join(folder, name);
  if (!existsSync(unpacked)) {
    const draft = serviceFolder(join(folder, `${name}.${process.pid}`));
    await fetchAndUnpack(draft, { packages, maybe, works: () => works(programIn(draft, program)) });
    rmSync(unpacked, { recursive: true, force: true });
    renameSync(draft, unpacked);
  }
  const found = programIn(unpacked, program);
  if (works(found)) return found;
  rmSync(unpacked, { recursive: true, force: true });
  return undefined;
}

function programIn(folder, program) {
  const lib = join(folder, 'root', 'usr', 'lib');
  const names = existsSync(lib) ? readdirSync(lib) : [];
  const libraries = names.filter((name) => name.includes('-linux-gnu')).map((n) => join(lib, n));
  return {
    command: join(folder, 'root', 'usr', 'bin', program),
    env: { ...plainEnvironment(), LD_LIBRARY_PATH: libraries.join(':') },
    from: 'Debian package, unpacked',
  };
}

async function fetchAndUnpack(folder, { packages, maybe, works }) {
  // With the environment of the caller: it may name an HTTP proxy.
  const options = { ...serviceUser, cwd: folder, env: { ...process.env, HOME: folder } };
  const download = (names, more = []) =>
    run('apt-get', [...more, 'download', '-q', ...names], options);
  let lists = [];
  if ((await download(packages)).code !== 0) {
    // No package lists on this machine: fetch them into the folder, which needs no root either.
    const state = serviceFolder(join(folder, 'lists'));
    serviceFolder(join(state, 'lists', 'partial'));
    serviceFolder(join(state, 'archives', 'partial'));
    lists = ['-o', `Dir::State=${state}`, '-o', `Dir::Cache=${state}`];
    await run('apt-get', [...lists, 'update', '-q'], options);
    await download(packages, lists);
  }
  await unpackAll(folder, options);
  if (works()) return;
  for (const name of maybe) await download([name], lists);
  await unpackAll(folder, options);
}

async function unpackAll(folder, options) {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.deb'))) {
    await run('dpkg', ['-x', name, 'root'], options);
    rmSync(join(folder, name));
  }
}
