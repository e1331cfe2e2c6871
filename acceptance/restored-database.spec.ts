import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { ready, startOwnProduct, type OwnProduct } from './own-product';
import { AppProcess } from './processes';
import { call, create, reactorOf, until } from './product';
import { startReceiver, type Receiver } from './receiver';

const apps = ['management-api', 'gateway', 'worker'] as const;

let product: OwnProduct;
let receiver: Receiver;
let processes: AppProcess[] = [];

beforeAll(async () => {
  product = await startOwnProduct();
  receiver = await startReceiver();
});
afterAll(async () => {
  await Promise.all(processes.map((one) => one.end()));
  await product.stop();
  await receiver.close();
});

const afterRestore = (...args: string[]): Promise<string> =>
  product.script('after-restore.mjs', ...args);

/** Runs statements from another database, since this one is copied and renamed. */
async function onServer(...statements: string[]): Promise<void> {
  const url = new URL(product.databaseUrl);
  url.pathname = '/template1';
  const client = new Client({ connectionString: url.href });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

const database = (): string => new URL(product.databaseUrl).pathname.slice(1);
const apart = (work: string): string[] => [
  `ALTER DATABASE ${database()} ALLOW_CONNECTIONS false`,
  `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database()}'`,
  work,
];

/** A database with the same rows, as a dump that was read back has. */
const copy = (name: string): Promise<void> =>
  onServer(
    ...apart(`CREATE DATABASE ${name} TEMPLATE ${database()}`),
    `ALTER DATABASE ${database()} ALLOW_CONNECTIONS true`,
  );
const putBack = (name: string): Promise<void> =>
  onServer(
    ...apart(`ALTER DATABASE ${database()} RENAME TO before_${name}`),
    `ALTER DATABASE ${name} RENAME TO ${database()}`,
  );

async function allReady(): Promise<void> {
  await Promise.all(apps.map((app) => ready(product.opsUrls[app])));
}

/** Waits until each app says why it is not ready. */
async function noneReady(): Promise<void> {
  for (const app of apps) {
    await until(async () => {
      const { status, text } = await call('GET', `${product.opsUrls[app]}/health/ready`);
      return status === 503 && text.includes('restored, waits for after-restore');
    }, 30_000);
  }
}

const accept = async (reactorId: string): Promise<string> => {
  const { status, body } = await call('POST', `${product.baseUrl}/reactors/${reactorId}/react`, {
    key: product.privateKey,
    body: { callback_url: `${receiver.url}/hook` },
  });
  expect(status).toBe(202);
  return String(body.async_request_id);
};
const statusOf = async (runId: string): Promise<unknown> =>
  (await call('GET', `${product.baseUrl}/runs/${runId}`, { key: product.adminKey })).body.status;
const webhooksOf = (runId: string): number =>
  receiver.received.filter(({ headers }) => headers['webhook-id'] === `msg_${runId}`).length;

/** The status of a call with this key. 401: it is refused. */
const answerTo = async (key: string): Promise<number> =>
  (await call('GET', `${product.baseUrl}/applications`, { key })).status;

it('a dump that is put back under running processes, and under new ones with an empty Redis, is served from only after after-restore: what had ended does not run again, and ended keys are told and refused', async () => {
  const { baseUrl, secondTenant } = product;
  const reactorId = await reactorOf(product, 'module.exports = async () => ({ raw: {} });');
  const application = await create(
    product,
    '/applications',
    { name: 'second manager', type: 'management', permissions: ['application:read'] },
    secondTenant.adminKey,
  );
  const endedKey = String(application.key);
  const deleted = await create(product, '/applications', {
    name: 'deleted',
    type: 'private',
    permissions: ['token:create'],
  });
  expect(await answerTo(endedKey)).toBe(200);
  const worker = new AppProcess(product.pids.worker);
  worker.signal('SIGSTOP');
  const [ran, waiting] = [await accept(reactorId), await accept(reactorId)];
  await copy('dump');
  await copy('second_dump');
  await ready(product.opsUrls.gateway);

  // After the dump the runs end, and a key and an application are deleted.
  worker.signal('SIGCONT');
  await until(() => Promise.resolve(webhooksOf(ran) + webhooksOf(waiting) === 2), 30_000);
  // Postgres has just copied databases: a first answer may be 503.
  let keyId = '';
  await until(async () => {
    const { status, body } = await call('GET', `${baseUrl}/applications/${application.id}/keys`, {
      key: secondTenant.adminKey,
    });
    keyId = String((body as unknown as { id: string }[])[0]?.id ?? '');
    return status === 200;
  }, 20_000);
  for (const [path, key] of [
    [`/applications/${application.id}/keys/${keyId}`, secondTenant.adminKey],
    [`/applications/${deleted.id}`, product.adminKey],
  ] as const) {
    const remove = () => call('DELETE', `${baseUrl}${path}`, { key });
    await until(async () => [204, 404].includes((await remove()).status), 20_000);
  }
  expect(await answerTo(endedKey)).toBe(401);

  await putBack('dump');
  await noneReady();
  expect((await call('GET', `${baseUrl}/applications`, { key: endedKey })).status).toBe(503);
  expect(readFileSync(join(product.folder, 'logs/gateway.log'), 'utf8')).toContain(
    'npm run after-restore',
  );

  const found = JSON.parse(await afterRestore('--status', '--json')) as {
    findings: {
      verdict: string;
      changes: {
        keys: { first: { applicationId: string; workAgain: string[] }[] };
        missing: { first: { id: string }[] };
      };
    };
  };
  expect(found.findings.verdict).toBe('copied');
  expect(found.findings.changes.keys.first).toEqual([
    expect.objectContaining({ applicationId: application.id, workAgain: [keyId] }),
  ]);
  expect(found.findings.changes.missing.first.map(({ id }) => id)).toContain(deleted.id);
  await noneReady();

  await afterRestore('--end-keys', '--tenant', secondTenant.tenantId);
  await noneReady();
  const said = await afterRestore();
  expect(said).toContain('Held now: 2 runs, 0 webhooks');
  await allReady();
  expect(await answerTo(endedKey)).toBe(401);
  expect(await answerTo(secondTenant.adminKey)).toBe(401);
  const made = JSON.parse(
    await product.script('tenant-key.mjs', '--tenant', secondTenant.tenantId),
  ) as {
    management_key: string;
  };
  expect(await answerTo(made.management_key)).toBe(200);
  expect([await statusOf(ran), await statusOf(waiting)]).toEqual(['held', 'held']);

  // The product works, and does not run what it holds.
  const fresh = await accept(reactorId);
  await until(() => Promise.resolve(webhooksOf(fresh) === 1), 30_000);
  expect([webhooksOf(ran), webhooksOf(waiting)]).toEqual([1, 1]);
  const metrics = await (await fetch(`${product.opsUrls.worker}/metrics`)).text();
  expect(metrics).toMatch(
    /glovebox_worker_queue_rows\{[^}]*queue="runs"[^}]*state="held"[^}]*\} 2/,
  );
  expect(await afterRestore('--release', '--tenant', product.tenantId)).toContain('2 runs');
  await until(() => Promise.resolve(webhooksOf(ran) + webhooksOf(waiting) === 4), 30_000);

  // The second dump meets neither a living process nor a marker in Redis.
  processes = apps.map((app) => new AppProcess(product.pids[app]));
  for (const one of processes) one.signal('SIGKILL');
  await putBack('second_dump');
  const redis = new Redis(product.redisUrl);
  await redis.flushall();
  redis.disconnect();
  for (const one of processes) one.restart();
  await noneReady();
  expect(await afterRestore()).toContain('Redis does not tell what processes saw');
  await allReady();
  expect(await answerTo(endedKey)).toBe(200);
  expect([await statusOf(ran), await statusOf(waiting)]).toEqual(['held', 'held']);
  expect(await afterRestore('--fail', '--older-than', '1s')).toContain('Failed: 2 runs');
  expect([await statusOf(ran), await statusOf(waiting)]).toEqual(['failed', 'failed']);
  const tour = await accept(reactorId);
  await until(() => Promise.resolve(webhooksOf(tour) === 1), 30_000);
  expect([webhooksOf(ran), webhooksOf(waiting)]).toEqual([2, 2]);
  expect(await afterRestore()).toContain('Nothing was changed');
});
