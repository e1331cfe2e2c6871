import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import {
  freePort,
  startDnsServer,
  startRedis,
  startTcpRelay,
  testBubblewrap,
  waitFor,
  type DnsServer,
} from '@glovebox/testing';
import { devFile, runningProduct, scriptEnvironment } from './product';
import { describeProcess } from './processes';

type App = 'gateway' | 'management-api' | 'worker' | 'runner';
interface Found {
  readonly name: string;
  readonly condition: string;
  readonly says: string;
  readonly remedy?: string;
}
interface Report {
  readonly app: string;
  readonly commit: string;
  readonly healthy: boolean;
  readonly checks: readonly Found[];
}

const root = join(__dirname, '..');
const product = runningProduct();
const apps: readonly App[] = ['management-api', 'gateway', 'worker', 'runner'];

let dns: DnsServer;
let redis: Redis;
beforeAll(async () => {
  dns = await startDnsServer(() => ({ addresses: ['93.184.215.14'] }));
  redis = new Redis(product.redisUrl);
});
afterAll(async () => {
  redis.disconnect();
  await dns.close();
});

/** The settings of the running app. */
const settingsOf = (app: App): Record<string, string> => ({
  ...describeProcess(product.pids[app] ?? 0).env,
  EGRESS_DNS: dns.address,
});

function run(
  file: string,
  env: NodeJS.ProcessEnv,
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(root, file), ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

async function examine(
  app: App,
  changes: Readonly<Record<string, string>> = {},
): Promise<Report & { readonly code: number; of(name: string): Found | undefined }> {
  const env = { ...settingsOf(app), ...changes };
  const { code, stdout } = await run(`dist/apps/${app}/doctor.main.js`, env, '--json');
  const report = JSON.parse(stdout) as Report;
  return { ...report, code, of: (name) => report.checks.find((check) => check.name === name) };
}

it.each(apps)('the doctor of %s finds nothing broken in a healthy product', async (app) => {
  // The product of the tests lets code reach this machine, and a machine may lack namespaces.
  const allowed = testBubblewrap() === undefined ? ['egress', 'sandbox level'] : ['egress'];
  let odd: readonly Found[] = [];
  // Specs beside this one keep the machine busy, so that a process may hear late for a moment.
  await waitFor(
    async () => {
      const { code, healthy, checks } = await examine(app);
      odd = checks.filter(({ name, condition }) => condition !== 'ok' && !allowed.includes(name));
      expect(checks.length).toBeGreaterThan(5);
      return code === 0 && healthy && odd.length === 0;
    },
    { timeoutMs: 20_000 },
  ).catch(() => undefined);
  expect(odd).toEqual([]);
});

it('npm run doctor looks at all four apps, and prints no secret', async () => {
  const environment = { ...scriptEnvironment(), EGRESS_DNS: dns.address };
  const { code, stdout } = await run('tools/doctor.mjs', environment);
  expect(stdout.split('\n').filter((line) => /^ {2}(?:FAULT|UNKNOWN)/.test(line))).toEqual([]);
  expect(code).toBe(0);
  const titles = stdout.split('\n').filter((line) => /^[a-z]/.test(line));
  expect(titles.map((line) => line.split(' ')[0])).toEqual([
    'management-api',
    'runner',
    'gateway',
    'worker',
  ]);
  const folder = dirname(devFile());
  const secrets = Object.values(
    JSON.parse(readFileSync(join(folder, 'secrets.json'), 'utf8')) as Record<string, string>,
  );
  const ring = settingsOf('gateway')['KEY_RING_FILE'] ?? '';
  const master = readFileSync(ring, 'utf8').trim().split(':')[1] ?? '';
  for (const secret of [...secrets, master]) {
    expect(secret.length).toBeGreaterThan(20);
    expect(stdout).not.toContain(secret);
  }
  const json = await run('tools/doctor.mjs', environment, '--json');
  expect((JSON.parse(json.stdout) as Report[]).map(({ healthy }) => healthy)).toEqual([
    true,
    true,
    true,
    true,
  ]);
});

const url = (text: string, change: (url: URL) => void): string => {
  const changed = new URL(text);
  change(changed);
  return changed.href;
};
const ofGateway = (name: string): string => settingsOf('gateway')[name] ?? '';
const ring = (version: number): string => `${version}:${randomBytes(32).toString('base64')}`;

/** Really broken: the check, the broken setting, and what has to be found. */
const broken: readonly (readonly [
  app: App,
  check: string,
  what: string,
  changes: () => Record<string, string> | Promise<Record<string, string>>,
  condition: string,
  says: RegExp,
])[] = [
  [
    'gateway',
    'Postgres',
    'that refuses connections',
    async () => {
      const port = String(await freePort());
      return { DATABASE_URL: url(ofGateway('DATABASE_URL'), (db) => void (db.port = port)) };
    },
    'fault',
    /the connection is refused$/,
  ],
  [
    'worker',
    'Postgres',
    'that refuses the password',
    () => ({ DATABASE_PASSWORD: 'wrong' }),
    'fault',
    /the password is refused$/,
  ],
  [
    'management-api',
    'Postgres',
    'as a role that passes row-level security by',
    () => ({ DATABASE_URL: product.databaseUrl }),
    'fault',
    /as postgres: this role passes/,
  ],
  [
    'gateway',
    'Redis',
    'that refuses the password',
    () => ({ REDIS_PASSWORD: 'wrong' }),
    'fault',
    /user or password are refused$/,
  ],
  [
    'gateway',
    'key ring',
    'without a key that data needs',
    () => ({ KEY_RING_FILE: '', KEY_RING: ring(2) }),
    'fault',
    /the ring lacks 1$/,
  ],
  [
    'gateway',
    'runners',
    'with another secret',
    () => ({ RUNNER_SECRET: 'another secret that is long enough for a network' }),
    'fault',
    /(?:has another secret|down)$/,
  ],
  [
    'management-api',
    'gateway',
    'that is not there',
    async () => ({ GATEWAY_URL: `http://127.0.0.1:${await freePort()}` }),
    'fault',
    /does not answer at 127/,
  ],
  [
    'management-api',
    'gateway',
    'that is a management API',
    () => ({ GATEWAY_URL: `http://127.0.0.1:${settingsOf('management-api').PORT}` }),
    'fault',
    /is none: it answers 404$/,
  ],
  [
    'gateway',
    'management API',
    'that is not there',
    async () => ({ MANAGEMENT_URL: `http://127.0.0.1:${await freePort()}` }),
    'fault',
    /does not answer/,
  ],
  [
    'worker',
    'process',
    'that is not there',
    async () => ({ OPS_PORT: String(await freePort()) }),
    'fault',
    /nothing answers at http:\/\/127\.0\.0\.1:/,
  ],
  [
    'worker',
    'names',
    'without a resolver that answers',
    async () => ({ EGRESS_DNS: `127.0.0.1:${await freePort()}` }),
    'fault',
    /no name server answered$/,
  ],
  [
    'runner',
    'egress',
    'that lets code reach private addresses',
    () => ({ EGRESS_ALLOW: '10.0.0.0/8:*' }),
    'warning',
    /^not refused: a private address \(10\.0\.0\.1:443\)$/,
  ],
  [
    'runner',
    'sandbox level',
    'that is asked for and does not hold',
    () => ({ SANDBOX_LEVEL: '3', BWRAP: '/bin/false' }),
    'fault',
    /^level 0 .*not 3: /,
  ],
  [
    'runner',
    'sandbox level',
    'that could be higher',
    () => ({ BWRAP: '/bin/false' }),
    'warning',
    /^level 2, not 3: /,
  ],
  [
    'gateway',
    'configuration',
    'with settings that cannot be used',
    () => ({ PORT: 'many', DATABASE_URL: 'postgres://u:secret-in-it@db/g?sslmode=require' }),
    'fault',
    /^PORT must be a whole number/,
  ],
  [
    'worker',
    'configuration',
    'with a name among the addresses that may be reached',
    () => ({ EGRESS_ALLOW: 'localhost:3000' }),
    'fault',
    /^EGRESS_ALLOW: "localhost:3000" is not ip:port/,
  ],
];

it.each(broken)('the doctor of %s finds %s %s', async (...row) => {
  const [app, check, , changes, condition, says] = row;
  const report = await examine(app, await changes());
  expect(report.of(check)).toMatchObject({
    condition,
    says: expect.stringMatching(says) as string,
    remedy: expect.stringMatching(/^[A-Z]/) as string,
  });
  expect(report.code).toBe(condition === 'fault' ? 1 : 0);
  expect(JSON.stringify(report)).not.toContain('secret-in-it');
});

it('a store that hangs is reported within seconds, and the other one is looked at', async () => {
  const relay = await startTcpRelay(product.redisUrl);
  relay.stall();
  try {
    const begun = performance.now();
    const report = await examine('worker', { REDIS_URL: relay.through(product.redisUrl) });
    expect(performance.now() - begun).toBeLessThan(12_000);
    expect(report.of('Redis')?.condition).toMatch(/^(?:fault|unknown)$/);
    expect(report.of('policy of Redis')?.condition).toBe('unknown');
    expect(report.of('Postgres')?.condition).toBe('ok');
    expect(report.code).toBe(1);
  } finally {
    await relay.close();
  }
});

it('without Redis the doctor says that it knows no processes, and counts none', async () => {
  const report = await examine('worker', { REDIS_URL: 'redis://127.0.0.1:1' });
  for (const name of ['connections', 'definitions']) {
    expect(report.of(name)?.says).toMatch(/not known, because Redis does not answer$/);
  }
});

it('a Redis that evicts keys is a fault, and one that saves nothing is a warning', async () => {
  for (const [policy, condition] of [
    ['allkeys-lru', 'fault'],
    ['noeviction', 'warning'],
  ] as const) {
    const own = await startRedis({ args: ['--maxmemory-policy', policy] });
    try {
      const report = await examine('worker', { REDIS_URL: own.url });
      expect(report.of('policy of Redis')).toMatchObject({ condition });
      expect(report.of('processes')).toMatchObject({
        condition: 'fault',
        says: expect.stringContaining('no process of gateway, management-api, worker') as string,
      });
    } finally {
      await own.stop();
    }
  }
});

describe('processes that tell of themselves', () => {
  const told = async (changes: object): Promise<Awaited<ReturnType<typeof examine>>> => {
    const key = (await redis.keys('{glovebox}:processes:*')).sort().at(-1) ?? '';
    const [known = '{}'] = await redis.hvals(key);
    await redis.hset(key, 'a-spec', JSON.stringify({ ...JSON.parse(known), ...changes }));
    try {
      return await examine('management-api');
    } finally {
      await redis.hdel(key, 'a-spec');
    }
  };

  it('of another build are a warning', async () => {
    const { of } = await told({ app: 'worker', commit: 'f'.repeat(40) });
    expect(of('processes')).toMatchObject({
      condition: 'warning',
      says: expect.stringContaining('ffffffffffff') as string,
    });
  });

  it('of another database are a fault', async () => {
    const { of } = await told({ host: 'lost', epoch: '00000000-0000-4000-8000-000000000000' });
    expect(of('definitions')).toMatchObject({
      condition: 'fault',
      says: expect.stringMatching(/of another epoch: .*lost/) as string,
    });
  });

  it('that hear late of changes are a warning', async () => {
    const { of } = await told({ host: 'late', toldMs: 5_000 });
    expect(of('definitions')).toMatchObject({ condition: 'warning' });
  });

  it('with more connections than Postgres has are a fault', async () => {
    const { of } = await told({ connections: 10_000 });
    expect(of('connections')).toMatchObject({ condition: 'fault' });
  });
});

it('a doctor that is called wrongly ends with 2, and one that is asked for help with 0', async () => {
  const doctor = 'dist/apps/worker/doctor.main.js';
  expect(await run(doctor, {}, '--jsno')).toMatchObject({ code: 2, stdout: '' });
  expect(await run(doctor, {}, '--help')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('It ends with 0') as string,
  });
});

it('another process is looked at by its ops port', async () => {
  const { opsUrls } = JSON.parse(readFileSync(devFile(), 'utf8')) as {
    opsUrls: Record<string, string>;
  };
  const args = ['--json', '--ops', opsUrls['runner'] ?? ''];
  const { stdout } = await run(
    'dist/apps/management-api/doctor.main.js',
    settingsOf('management-api'),
    ...args,
  );
  const { checks } = JSON.parse(stdout) as Report;
  expect(checks.at(-1)).toMatchObject({
    condition: 'ok',
    says: expect.stringMatching(/^ready: runner /) as string,
  });
});
