import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import {
  createAuthority,
  freePort,
  startPostgres,
  startRedis,
  startRunner,
  waitFor,
  type Authority,
  type PrivatePostgres,
  type PrivateRedis,
} from '@glovebox/testing';
import { call } from './product';

/** Postgres and Redis as others run them: over TLS alone, under a private authority. */
const apps = join(__dirname, '../dist/apps');
const redisPassword = 'the password of Redis';
const passwords = { OWNER: 'o', MANAGEMENT: 'm@/:?#%', DATA: 'd', ROTATION: 'r' };
const ringKey = Buffer.alloc(32, 7).toString('base64');

let folder: string;
let authority: Authority;
let postgres: PrivatePostgres;
let redis: PrivateRedis;
let runner: Awaited<ReturnType<typeof startRunner>>;
let caFile: string;
const running: App[] = [];

/** A mounted file. */
const mounted = (name: string, content: string): string => {
  const file = join(folder, name);
  writeFileSync(file, `${content}\n`);
  return file;
};

const verified = (url: string, ca = caFile): string => {
  const whole = new URL(url);
  if (whole.protocol === 'postgres:') whole.searchParams.set('sslmode', 'verify-full');
  whole.searchParams.set('sslrootcert', ca);
  return whole.href;
};

/** Without a login, which has files of its own. */
function bare(url: string): string {
  const without = new URL(url);
  without.username = '';
  without.password = '';
  return without.href;
}

const settings = (role: string, password: string): Record<string, string> => ({
  DATABASE_URL_FILE: mounted(`${role}-url`, verified(bare(postgres.url))),
  DATABASE_USER_FILE: mounted(`${role}-user`, `glovebox_${role}`),
  DATABASE_PASSWORD_FILE: mounted(`${role}-password`, password),
  REDIS_URL: verified(redis.url),
  REDIS_USER_FILE: mounted('redis-user', 'default'),
  REDIS_PASSWORD_FILE: mounted('redis-password', redisPassword),
  KEY_RING_FILE: mounted('key-ring', `1:${ringKey}`),
});

const ofManagement = (): Record<string, string> => settings('management', passwords.MANAGEMENT);
const ofWorker = (): Record<string, string> => ({
  ...settings('data', passwords.DATA),
  RUNNER_URLS: runner.url,
  RUNNER_SECRET: runner.secret,
});

interface App {
  readonly opsUrl: string;
  readonly exited: Promise<unknown[]>;
  log(): string;
  stop(): Promise<void>;
}

async function start(app: string, env: Readonly<Record<string, string>>): Promise<App> {
  const [port, opsPort] = [await freePort(), await freePort()];
  const child = spawn(process.execPath, [join(apps, app, 'main.js')], {
    env: { ...env, PORT: String(port), OPS_PORT: String(opsPort) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let log = '';
  child.stdout.on('data', (chunk) => (log += String(chunk)));
  const exited = once(child, 'exit');
  const started = {
    opsUrl: `http://127.0.0.1:${opsPort}`,
    exited,
    log: () => log,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
  running.push(started);
  return started;
}

const ready = async ({ opsUrl }: App): Promise<unknown> =>
  (await call('GET', `${opsUrl}/health/ready`)).body;
const untilReady = (app: App): Promise<unknown> =>
  waitFor(async () => (await call('GET', `${app.opsUrl}/health/ready`)).status === 200, {
    timeoutMs: 20_000,
  });

const runCommand = (name: string, env: Record<string, string>, ...args: string[]) =>
  promisify(execFile)(process.execPath, [join(apps, 'management-api', name), ...args], { env });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'glovebox-managed-'));
  chmodSync(folder, 0o755);
  authority = createAuthority();
  caFile = mounted('ca.pem', authority.ca);
  const tls = authority.issue('DNS:localhost');
  [postgres, redis, runner] = await Promise.all([
    startPostgres({ tls }),
    startRedis({ tls, args: ['--requirepass', redisPassword] }),
    startRunner(),
  ]);
  const roles = Object.entries(passwords).map(([role, own]) => [`${role}_PASSWORD`, own]);
  await runCommand('roles.main.js', {
    ADMIN_DATABASE_URL: verified(postgres.url),
    ...(Object.fromEntries(roles) as Record<string, string>),
  });
  await runCommand('migrate.main.js', settings('owner', passwords.OWNER), 'up');
});

afterEach(() => Promise.all(running.splice(0).map((app) => app.stop())));
afterAll(async () => {
  await Promise.all([postgres.stop(), redis.stop(), runner.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

it('all apps work with stores that they check, with user and password from files', async () => {
  const management = await start('management-api', ofManagement());
  const worker = await start('worker', ofWorker());
  const gateway = await start('gateway', ofWorker());
  await Promise.all([management, worker, gateway].map(untilReady));
  for (const app of [management, worker, gateway]) {
    expect(await ready(app)).toMatchObject({ components: { postgres: 'up', redis: 'up' } });
  }
  const { stdout } = await runCommand('tenant-create.main.js', ofManagement(), '--name', 'tls');
  expect(JSON.parse(stdout)).toMatchObject({ name: 'tls' });
  const status = settings('rotation', passwords.ROTATION);
  expect((await runCommand('keys-rotate.main.js', status, '--status')).stdout).toMatch(/seals/);
});

const untrusted = {
  'of another authority': [
    () => createAuthority().issue('DNS:localhost'),
    'its certificate is from an authority that sslrootcert does not name',
  ],
  'for another name': [
    () => authority.issue('DNS:elsewhere.test'),
    'its certificate is for another name than the one in the address',
  ],
  'that has expired': [
    () => authority.issueFor({ from: -7_200_000, until: -3_600_000 }, 'DNS:localhost'),
    'its certificate has expired',
  ],
} as const;
const faults = Object.keys(untrusted) as readonly (keyof typeof untrusted)[];

describe.each(faults)('with a certificate %s', (kind) => {
  const [issue, reason] = untrusted[kind];

  it('of Postgres, no process starts, and the log says why', async () => {
    await postgres.exchange(issue());
    try {
      for (const [app, env] of [
        ['management-api', ofManagement()],
        ['worker', ofWorker()],
      ] as const) {
        const started = await start(app, env);
        expect(await started.exited).toEqual([1, null]);
        const last = started.log().trim().split('\n').at(-1) ?? '';
        expect(JSON.parse(last)).toMatchObject({
          msg: expect.stringMatching(
            new RegExp(`^could not start: Postgres.* is not trusted: ${reason}$`),
          ) as string,
        });
        expect(started.log()).not.toContain(encodeURIComponent(passwords.MANAGEMENT));
      }
    } finally {
      await postgres.exchange(authority.issue('DNS:localhost'));
    }
  });

  it('of Redis, a worker is not ready, and the log says why', async () => {
    const other = await startRedis({ tls: issue(), args: ['--requirepass', redisPassword] });
    try {
      const worker = await start('worker', { ...ofWorker(), REDIS_URL: verified(other.url) });
      await waitFor(() => worker.log().includes(reason), { timeoutMs: 20_000 });
      const { opsUrl } = worker;
      await waitFor(async () => (await call('GET', `${opsUrl}/health/ready`)).status === 503);
      expect(await ready(worker)).toMatchObject({ components: { redis: 'down', postgres: 'up' } });
      expect(worker.log()).toContain('"type":"StoreNotTrusted"');
    } finally {
      await other.stop();
    }
  });
});

it('an address is compared with the addresses in the certificate, not with a name', async () => {
  const byAddress = (text: string): string => text.replace('localhost', '127.0.0.1');
  const env = { ...ofManagement(), DATABASE_URL: byAddress(verified(bare(postgres.url))) };
  const refused = await start('management-api', env);
  expect(await refused.exited).toEqual([1, null]);
  expect(refused.log()).toContain('for another name');
  await postgres.exchange(authority.issue('DNS:localhost', 'IP:127.0.0.1'));
  await untilReady(await start('management-api', env));
});

it('a process whose Postgres loses its trust is not ready until it has it again', async () => {
  const management = await start('management-api', ofManagement());
  await untilReady(management);
  await postgres.exchange(untrusted['that has expired'][0]());
  const admin = new Client({ connectionString: postgres.url, ssl: { rejectUnauthorized: false } });
  await admin.connect();
  await admin.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'glovebox_management'`,
  );
  await admin.end();
  const { opsUrl } = management;
  await waitFor(async () => (await call('GET', `${opsUrl}/health/ready`)).status === 503);
  await waitFor(() => management.log().includes('its certificate has expired'));
  await postgres.exchange(authority.issue('DNS:localhost'));
  await untilReady(management);
});
