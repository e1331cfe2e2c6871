// node docker/make-secrets.mjs: the secrets that docker/compose.yaml mounts, made once.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, 'secrets');
const draft = `${folder}.new`;

if (process.argv.includes('--help')) {
  console.log(`usage: node docker/make-secrets.mjs

Writes new random passwords, URLs and a key ring to ${folder}.
Refuses to replace what is there: without its key ring, stored data cannot be opened again.`);
  process.exit(0);
}
if (existsSync(folder)) {
  console.error(`${folder} exists and is left as it is.`);
  process.exit(1);
}

const password = () => randomBytes(24).toString('hex');
const admin = password();
const owner = password();
const management = password();
const data = password();
const rotation = password();
const redis = password();
const database = (user, secret) => `postgres://${user}:${secret}@postgres:5432/glovebox`;

const files = {
  postgres_password: admin,
  owner_password: owner,
  management_password: management,
  data_password: data,
  rotation_password: rotation,
  admin_database_url: database('postgres', admin),
  owner_database_url: database('glovebox_owner', owner),
  management_database_url: database('glovebox_management', management),
  data_database_url: database('glovebox_data', data),
  rotation_database_url: database('glovebox_rotation', rotation),
  redis_conf: [
    'bind * -::*',
    'dir /data',
    'save ""',
    'appendonly yes',
    'maxmemory-policy noeviction',
    `requirepass ${redis}`,
  ].join('\n'),
  redis_url: `redis://:${redis}@redis:6379`,
  key_ring: `1:${randomBytes(32).toString('base64')}`,
  runner_secret: password(),
};

// Nobody but the owner may enter the folder. The files in it are readable to all, because
// containers see them mounted one by one and run under other uids.
rmSync(draft, { recursive: true, force: true });
mkdirSync(draft, { mode: 0o700 });
for (const [name, text] of Object.entries(files)) {
  writeFileSync(join(draft, name), `${text}\n`, { mode: 0o644 });
}
renameSync(draft, folder);
console.log(`Secrets written to ${folder}`);
