import { entryPoint } from './repo.mjs';
import { query } from './services/postgres.mjs';
import { run } from './processes.mjs';
import { Trouble } from './progress.mjs';

/**
 * The URLs of one database for each of its roles.
 *
 * @param {string} adminUrl
 * @param {import('./types.js').Secrets} secrets
 * @returns {import('./types.js').DatabaseUrls}
 */
export function databaseUrls(adminUrl, secrets) {
  return {
    admin: adminUrl,
    owner: withLogin(adminUrl, 'glovebox_owner', secrets.ownerPassword),
    management: withLogin(adminUrl, 'glovebox_management', secrets.managementPassword),
    data: withLogin(adminUrl, 'glovebox_data', secrets.dataPassword),
    rotation: withLogin(adminUrl, 'glovebox_rotation', secrets.rotationPassword),
  };
}

/**
 * @param {string} adminUrl
 * @param {string} user
 * @param {string} password
 */
function withLogin(adminUrl, user, password) {
  const url = new URL(adminUrl);
  url.username = user;
  url.password = password;
  return url.href;
}

/**
 * @param {string} url
 * @param {string} name
 */
export function withDatabase(url, name) {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}

/**
 * @param {string} adminUrl
 * @param {string} name
 */
export async function createDatabase(adminUrl, name) {
  const known = await query(adminUrl, 'SELECT 1 FROM pg_database WHERE datname = $1', [name]);
  if (known.length === 0) await query(adminUrl, `CREATE DATABASE "${name}"`);
  return withDatabase(adminUrl, name);
}

/**
 * Checks that a given DATABASE_URL belongs to a role that may create roles.
 *
 * @param {string} text
 */
export async function checkAdminUrl(text) {
  let url;
  try {
    url = new URL(text);
  } catch {
    throw new Trouble(
      'DATABASE_URL is not a URL. Form: postgres://admin:password@host:5432/database',
    );
  }
  if (!/^postgres(ql)?:$/.test(url.protocol) || !url.hostname || url.pathname.length < 2) {
    throw new Trouble('DATABASE_URL must look like postgres://admin:password@host:5432/database');
  }
  let rows;
  try {
    rows = await query(
      text,
      'SELECT rolsuper OR rolcreaterole AS allowed, rolname FROM pg_roles WHERE rolname = current_user',
    );
  } catch (error) {
    throw new Trouble(
      `Cannot connect to ${url.host}${url.pathname} of DATABASE_URL: ${reasonOf(error)}`,
    );
  }
  if (rows[0]?.allowed) return;
  throw new Trouble(
    `DATABASE_URL connects as "${rows[0]?.rolname}", who may not create roles. Glovebox makes four roles ` +
      '(glovebox_owner, glovebox_management, glovebox_data, glovebox_rotation): give the URL of an administrator.',
  );
}

/**
 * A refused connection to several addresses has a code and no message.
 *
 * @param {unknown} error
 */
function reasonOf(error) {
  if (!(error instanceof Error)) return String(error);
  return error.message || /** @type {NodeJS.ErrnoException} */ (error).code;
}

/**
 * @param {string} adminUrl
 * @param {import('./types.js').Secrets} secrets
 */
export async function createRoles(adminUrl, secrets) {
  await runEntry('roles.main.js', [], {
    ADMIN_DATABASE_URL: adminUrl,
    OWNER_PASSWORD: secrets.ownerPassword,
    MANAGEMENT_PASSWORD: secrets.managementPassword,
    DATA_PASSWORD: secrets.dataPassword,
    ROTATION_PASSWORD: secrets.rotationPassword,
  });
}

/**
 * @param {string} ownerUrl
 * @param {string} direction
 */
export async function migrate(ownerUrl, direction = 'up') {
  return runEntry('migrate.main.js', [direction], { DATABASE_URL: ownerUrl });
}

/**
 * Returns the line that the command prints.
 *
 * @param {string} name
 * @param {{ demo: boolean, databaseUrl: string, redisUrl: string, keyRing: import('./types.js').KeyRingVariable }} options
 * @returns {Promise<import('./types.js').CreatedTenant>}
 */
export async function createTenant(name, { demo, databaseUrl, redisUrl, keyRing }) {
  const output = await runEntry(
    'tenant-create.main.js',
    ['--name', name, ...(demo ? ['--demo'] : [])],
    {
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      ...keyRing,
    },
  );
  return madeBy(output);
}

/**
 * Returns the line that the command prints.
 *
 * @param {string} tenant
 * @param {{ databaseUrl: string, redisUrl: string, keyRing: import('./types.js').KeyRingVariable }} options
 * @returns {Promise<import('./types.js').CreatedManagementKey>}
 */
export async function createManagementKey(tenant, { databaseUrl, redisUrl, keyRing }) {
  const output = await runEntry('tenant-key.main.js', ['--tenant', tenant], {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    ...keyRing,
  });
  return madeBy(output);
}

/**
 * Returns a link that signs in once.
 *
 * @param {{ tenant: string, role: string, consoleUrl: string }} link
 * @param {{ databaseUrl: string, redisUrl: string, keyRing: import('./types.js').KeyRingVariable }} options
 */
export async function createConsoleLink(
  { tenant, role, consoleUrl },
  { databaseUrl, redisUrl, keyRing },
) {
  const args = ['--tenant', tenant, '--role', role];
  const output = await runEntry('console-link.main.js', args, {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    ...keyRing,
    CONSOLE_URL: consoleUrl,
  });
  return output.trim().split('\n').at(-1) ?? '';
}

/** @param {string} output */
function madeBy(output) {
  const line = output
    .split('\n')
    .find((text) => text.startsWith('{') && text.includes('tenant_id'));
  if (!line) throw new Trouble(`Nothing was created:\n${output.trim()}`);
  return JSON.parse(line);
}

/**
 * Returns the output of the command.
 *
 * @param {readonly string[]} args
 * @param {{ databaseUrl: string, redisUrl: string, keyRing: import('./types.js').KeyRingVariable }} options
 */
export function rotateKeys(args, { databaseUrl, redisUrl, keyRing }) {
  return runEntry('keys-rotate.main.js', args, {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    ...keyRing,
  });
}

/**
 * Returns the output of the command.
 *
 * @param {readonly string[]} args
 * @param {{ databaseUrl: string, redisUrl: string, keyRing: import('./types.js').KeyRingVariable }} options
 */
export function afterRestore(args, { databaseUrl, redisUrl, keyRing }) {
  return runEntry(
    'after-restore.main.js',
    args,
    { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, ...keyRing },
    60 * 60_000,
  );
}

/**
 * @param {string} file
 * @param {readonly string[]} args
 * @param {import('./types.js').Environment} env
 */
async function runEntry(file, args, env, timeoutMs = 60_000) {
  const { code, output } = await run(
    process.execPath,
    [entryPoint('management-api', file), ...args],
    {
      env: { PATH: process.env.PATH, LOG_LEVEL: 'warn', ...env },
      timeoutMs,
    },
  );
  if (code !== 0) throw new Trouble(`${file} failed:\n${output.trim()}`);
  return output;
}
