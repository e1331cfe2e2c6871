// The secrets of docker/compose.yaml and of k8s/overlays/local, each made once. See --help.
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const help = `
usage: node make-secrets.mjs [FOLDER] [--share FOLDER]

Writes random passwords, URLs and a key ring to FOLDER (secrets, beside this file). What is there is
left as it is; what a newer release needs besides is added.
--share copies to FOLDER/SERVICE the secrets that each service of compose.yaml reads.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { share: { type: 'string' }, help: { type: 'boolean' } },
});
if (values.help) {
  console.log(help.trim());
  process.exit(0);
}
const [folder = join(import.meta.dirname, 'secrets')] = positionals;

/** @param {string} message */
const fail = (message) => {
  console.error(`Nothing was written. ${message}`);
  process.exit(1);
};
/** @param {string} name */
const known = (name) => {
  const path = join(folder, name);
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined;
};
/** @param {string} urlName */
const passwordIn = (urlName) => {
  const url = known(urlName);
  if (url === undefined) return undefined;
  if (!URL.canParse(url)) fail(`${join(folder, urlName)} is not a URL.`);
  return decodeURIComponent(new URL(url).password);
};
const random = () => randomBytes(24).toString('hex');

/**
 * A password and the URL that contains it; each can be taken from the other.
 *
 * @param {string} user
 * @param {string} passwordName
 * @param {string} urlName
 */
const login = (user, passwordName, urlName) => {
  const password = known(passwordName) ?? passwordIn(urlName) ?? random();
  const url = `postgres://${user}:${encodeURIComponent(password)}@postgres:5432/glovebox`;
  return { [passwordName]: password, [urlName]: url };
};
const redis =
  passwordIn('redis_url') ??
  /^requirepass (\S+)$/m.exec(known('redis_conf') ?? '')?.[1] ??
  random();

/** @type {Record<string, string>} */
const secrets = {
  // First: where there are others and no key ring, it was lost.
  key_ring: `1:${randomBytes(32).toString('base64')}`,
  ...login('postgres', 'postgres_password', 'admin_database_url'),
  ...login('glovebox_owner', 'owner_password', 'owner_database_url'),
  ...login('glovebox_management', 'management_password', 'management_database_url'),
  ...login('glovebox_data', 'data_password', 'data_database_url'),
  ...login('glovebox_rotation', 'rotation_password', 'rotation_database_url'),
  redis_conf: [
    'bind * -::*',
    'dir /data',
    'save ""',
    'appendonly yes',
    'maxmemory-policy noeviction',
    `requirepass ${redis}`,
  ].join('\n'),
  redis_url: `redis://:${encodeURIComponent(redis)}@redis:6379`,
  runner_secret: random(),
};
const data = ['data_database_url', 'redis_url', 'key_ring', 'runner_secret'];
const passwords = ['owner', 'management', 'data', 'rotation'].map((role) => `${role}_password`);

/** @type {Readonly<Record<string, readonly string[]>>} */
const readBy = {
  postgres: ['postgres_password'],
  redis: ['redis_conf'],
  roles: ['admin_database_url', ...passwords],
  migrate: ['owner_database_url'],
  'rotate-keys': ['rotation_database_url', 'redis_url', 'key_ring'],
  'after-restore': ['owner_database_url', 'redis_url', 'key_ring'],
  'management-api': ['management_database_url', 'redis_url', 'key_ring'],
  gateway: data,
  worker: data,
  runner: ['runner_secret'],
};

const missing = Object.keys(secrets).filter((name) => known(name) === undefined);
if (missing.includes('key_ring') && missing.length < Object.keys(secrets).length) {
  fail(`${folder} has no key_ring: put it back. Stored data cannot be opened with a new one.`);
}

// Only the owner may enter the folder. The files are readable to all, because containers see some
// of them and run under other uids.
mkdirSync(folder, { recursive: true, mode: 0o700 });
if ((statSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700);
for (const name of missing) write(folder, name, `${secrets[name]}\n`);
console.log(
  missing.length > 0 ? `Written to ${folder}: ${missing.join(', ')}` : `${folder} is complete.`,
);

if (values.share !== undefined) {
  for (const [service, names] of Object.entries(readBy)) {
    const share = join(values.share, service);
    mkdirSync(share, { recursive: true });
    for (const name of names) write(share, name, readFileSync(join(folder, name), 'utf8'));
  }
}

/**
 * Nobody sees a file half written, and a start that breaks off here goes on at the next one.
 *
 * @param {string} place
 * @param {string} name
 * @param {string} text
 */
function write(place, name, text) {
  const draft = join(place, `.${name}.new`);
  rmSync(draft, { force: true });
  writeFileSync(draft, text, { mode: 0o644 });
  renameSync(draft, join(place, name));
}
