import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { startRedis, startReplica, startSentinel, type PrivateRedis } from '@glovebox/testing';
import { ready, startOwnProduct, type OwnProduct } from '../own-product';
import { AppProcess } from '../processes';
import { call, create, reactorOf, until } from '../product';
import { startReceiver, type Receiver } from '../receiver';

jest.setTimeout(240_000);

const callsPerSecond = 200;

let product: OwnProduct;
let receiver: Receiver;
let stores: PrivateRedis[];
let apps: AppProcess[];

beforeAll(async () => {
  product = await startOwnProduct();
  receiver = await startReceiver();
  const primary = await startRedis();
  const replica = await startReplica(primary);
  stores = [primary, replica, await startSentinel(primary)];
  apps = [];
  for (const name of ['management-api', 'gateway', 'worker']) {
    const app = new AppProcess(product.pids[name]);
    app.signal('SIGKILL');
    app.restart({
      REDIS_URL: 'redis://sentinels-know.invalid',
      REDIS_SENTINELS: `127.0.0.1:${stores[2]?.port}`,
    });
    apps.push(app);
  }
  for (const name of ['management-api', 'gateway', 'worker']) await ready(product.opsUrls[name]);
});

afterAll(async () => {
  await Promise.all(apps.map((app) => app.end()));
  await product.stop();
  await Promise.all(stores.map((store) => store.stop()));
  await receiver.close();
});

/** The state of Redis as each app sees it. */
const redisOf = (app: string): Promise<unknown> =>
  call('GET', `${product.opsUrls[app]}/health/ready`).then(
    ({ body }) => (body.components as Record<string, unknown>).redis,
  );

it('while Sentinel promotes another Redis under 200 calls/s no call fails, changes are in force, and every accepted run is reported', async () => {
  const { baseUrl, adminKey, privateKey: key } = product;
  const [primary, replica, sentinel] = stores;
  if (!primary || !replica || !sentinel) throw new Error('no stores');
  const watched = new Redis(sentinel.url);
  await until(async () => {
    const known = (await watched.call('SENTINEL', 'REPLICAS', 'mymaster')) as unknown[];
    return known.length === 1;
  }, 30_000);
  watched.disconnect();

  const newProxy = () =>
    create(product, '/proxies', { name: 'target', destination_url: `${receiver.url}/proxied` });
  const invoke = async (proxy: Record<string, unknown>): Promise<number> =>
    (
      await call('GET', `${baseUrl}/proxy`, {
        key,
        headers: { 'SVC-PROXY-KEY': String(proxy.key) },
      })
    ).status;
  const reactorId = await reactorOf(product, 'module.exports = async () => ({ raw: {} });');
  const target = await newProxy();
  const failed: number[] = [];
  const runs: string[] = [];
  const slow: number[] = [];
  let [calls, over] = [0, false];
  const open = new Set<Promise<unknown>>();
  const calling = (async () => {
    const begun = performance.now();
    for (; !over; calls += 1) {
      await delay(Math.max(0, begun + (calls * 1_000) / callsPerSecond - performance.now()));
      const one: Promise<unknown> = invoke(target)
        .catch(() => 0)
        .then((status) => status === 200 || failed.push(status))
        .finally(() => open.delete(one));
      open.add(one);
    }
    await Promise.all(open);
  })();
  const changing = (async () => {
    while (!over) {
      const { id, key: proxyKey } = await newProxy();
      const gone = await call('DELETE', `${baseUrl}/proxies/${id}`, { key: adminKey });
      expect(gone.status).toBe(204);
      const since = performance.now();
      while ((await invoke({ key: proxyKey })) === 200) await delay(10);
      slow.push(performance.now() - since);
    }
  })();
  const accepting = (async () => {
    while (!over) {
      const { status, body } = await call('POST', `${baseUrl}/reactors/${reactorId}/react`, {
        key,
        body: { callback_url: `${receiver.url}/hook` },
      });
      if (status === 202) runs.push(String(body.async_request_id));
      await delay(50);
    }
  })();
  await delay(2_000);
  const since = performance.now();
  await primary.kill();
  for (const app of ['management-api', 'gateway', 'worker']) {
    await until(async () => (await redisOf(app)) === 'up', 30_000);
  }
  const upAfterMs = Math.round(performance.now() - since);
  await delay(2_000);
  over = true;
  await Promise.all([calling, changing, accepting]);

  const promoted = new Redis(replica.url);
  expect(await promoted.info('replication')).toContain('role:master');
  // Reminders of runs reach the worker through it.
  await until(async () => (await promoted.get('{glovebox}:worker:alive')) !== null);
  promoted.disconnect();
  expect(failed).toEqual([]);
  expect(Math.max(...slow)).toBeLessThan(1_500);
  const reported = (): Set<unknown> =>
    new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
  await until(() => Promise.resolve(runs.every((id) => reported().has(`msg_${id}`))), 60_000);
  process.stdout.write(
    `${calls} calls, 0 failed; ${runs.length} runs accepted and reported; ${slow.length} deletions in force ` +
      `within ${Math.round(Math.max(...slow))} ms; Redis was up again in all apps ${upAfterMs} ms after the kill\n`,
  );
});
