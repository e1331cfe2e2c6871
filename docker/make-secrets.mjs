// node docker/make-secrets.mjs [FOLDER]: the secrets that docker/compose.yaml mounts, and those of
// k8s/overlays/local, each made once.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const [, , target] = process.argv;
const folder = target ? resolve(target) : join(import.meta.dirname, 'secrets');
const isUpgrade = existsSync(folder);

if (process.argv.includes('--help')) {
  console.log(`usage: node docker/make-secrets.mjs [FOLDER]

Writes random passwords, URLs and a key ring to FOLDER, or else to docker/secrets.
What is there is left as it is; what a newer release needs besides is added.`);
  process.exit(0);
}

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

if (isUpgrade && known('key_ring') === undefined) {
  fail(`${folder} has no key_ring: put it back. Stored data cannot be opened with a new one.`);
}

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
const files = {
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
  key_ring: `1:${randomBytes(32).toString('base64')}`,
  runner_secret: random(),
};
const missing = Object.keys(files).filter((name) => known(name) === undefined);

// Written whole or not at all: a new folder, or each added file. Only the owner may enter the
// folder. The files are readable to all, because containers see them mounted one by one and run
// under other uids.
const draft = `${folder}.new`;
rmSync(draft, { recursive: true, force: true });
mkdirSync(draft, { mode: 0o700 });
for (const name of missing) {
  writeFileSync(join(draft, name), `${files[name]}\n`, { mode: 0o644 });
}
if (!isUpgrade) renameSync(draft, folder);
else {
  for (const name of missing) renameSync(join(draft, name), join(folder, name));
  rmSync(draft, { recursive: true });
}
console.log(
  missing.length > 0 ? `Written to ${folder}: ${missing.join(', ')}` : `${folder} is complete.`,
);
