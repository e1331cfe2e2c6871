import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { startOwnProduct, type OwnProduct } from '../own-product';
import { AppProcess, placeBeside } from '../processes';
import { call, create, reactorOf, until } from '../product';
import { startReceiver, type Receiver } from '../receiver';

/** Two replicas and one more in a rollout, of each app. */
const processesOfEach = 3;
const callers = 24;
const loadMs = 20_000;
const readyWithinMs = 30_000;
const apps = ['management-api', 'gateway', 'worker'];

let product: OwnProduct;
let receiver: Receiver;
const added: AppProcess[] = [];
const urls: Record<string, string[]> = {};

beforeAll(async () => {
  product = await startOwnProduct({ POSTGRES_CONNECTIONS_MAX: '100' });
  receiver = await startReceiver((res) => void res.end('{}'));
  urls.gateway = [product.baseUrl];
});

afterAll(async () => {
  await Promise.all(added.map((app) => app.end()));
  await product.stop();
  await receiver.close();
});

/** Starts one more process of an app, and resolves with the time until it is ready. */
async function surge(app: string): Promise<number> {
  const { port, opsPort, settings } = await placeBeside();
  const startedAt = performance.now();
  added.push(new AppProcess(product.pids[app]).another((own) => ({ ...own, ...settings })));
  const ready = `http://127.0.0.1:${opsPort}/health/ready`;
  await until(async () => (await call('GET', ready)).status === 200, readyWithinMs);
  (urls[app] ??= []).push(`http://127.0.0.1:${port}`);
  return performance.now() - startedAt;
}

it('every app is rolled out under load on a Postgres of 100 connections, and none is refused', async () => {
  const admin = new Client({ connectionString: product.databaseUrl });
  await admin.connect();
  const reactorId = await reactorOf(
    product,
    'module.exports = async ({ args }) => ({ raw: args });',
  );
  const { id: token } = await create(
    product,
    '/tokens',
    { type: 'token', data: 'x' },
    product.privateKey,
  );
  const proxy = await create(product, '/proxies', { name: 'p', destination_url: receiver.url });
  const statuses = new Map<string, number>();
  let [isOver, turn] = [false, 0];
  const keys = [product.privateKey, product.secondTenant.privateKey];
  const note = (what: string, status: number): void => {
    const label = `${what} ${status}`;
    statuses.set(label, (statuses.get(label) ?? 0) + 1);
  };
  const keepCalling = async (): Promise<void> => {
    while (!isOver) {
      turn += 1;
      const gateway = urls.gateway?.[turn % (urls.gateway.length || 1)] ?? product.baseUrl;
      const key = product.privateKey;
      if (turn % 4 === 0) {
        const body = { args: {}, callback_url: `${receiver.url}/hook` };
        note(
          'run',
          (await call('POST', `${gateway}/reactors/${reactorId}/react`, { key, body })).status,
        );
      } else if (turn % 4 === 1) {
        const management = urls['management-api']?.[turn % 2] ?? product.baseUrl;
        note('list', (await call('GET', `${management}/tokens?type=token`, { key })).status);
      } else if (turn % 4 === 2) {
        const mine = keys[(turn >> 2) % 2] ?? key;
        note(
          'store',
          (await call('POST', `${gateway}/tokens`, { key: mine, body: { type: 'token', data: 1 } }))
            .status,
        );
      } else {
        const headers = { 'SVC-PROXY-KEY': String(proxy.key) };
        note(
          'proxy',
          (await call('POST', `${gateway}/proxy`, { key, headers, body: { a: `{{${token}}}` } }))
            .status,
        );
      }
    }
  };
  let most = 0;
  const watch = async (): Promise<void> => {
    while (!isOver) {
      const { rows } = await admin.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM pg_stat_activity WHERE backend_type = 'client backend'`,
      );
      most = Math.max(most, rows[0]?.count ?? 0);
      await admin.query('SELECT pg_sleep(0.1)');
    }
  };
  const load = [watch(), ...Array.from({ length: callers }, () => keepCalling())];
  const tookMs = await Promise.all(
    apps.flatMap((app) => Array.from({ length: processesOfEach - 1 }, () => surge(app))),
  );
  await admin.query('SELECT pg_sleep($1)', [loadMs / 1_000]);
  isOver = true;
  await Promise.all(load);
  await admin.end();

  process.stdout.write(
    `ready after ${Math.max(...tookMs).toFixed(0)} ms at most; ${most} connections at most; ` +
      `${[...statuses].map(([label, count]) => `${label}: ${count}`).join(', ')}\n`,
  );
  const logs = readdirSync(product.folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.log'))
    .map((file) => readFileSync(join(product.folder, file), 'utf8'))
    .join('\n');
  expect(logs).toContain('database system is ready');
  expect(logs).not.toMatch(/53300|too many (clients|connections)|remaining connection slots/);
  const refused = [...statuses.keys()].filter((label) => !/ (200|201|202|429)$/.test(label));
  expect(refused).toEqual([]);
}, 180_000);
