import { Redis } from 'ioredis';
import { startOwnProduct, type OwnProduct } from '../own-product';
import { call, create, reactorOf, until } from '../product';
import { startReceiver, type Receiver } from '../receiver';

let product: OwnProduct;
let redis: Redis;
let receiver: Receiver;

beforeAll(async () => {
  product = await startOwnProduct();
  redis = new Redis(product.redisUrl);
  receiver = await startReceiver();
});
afterAll(async () => {
  redis.disconnect();
  await receiver.close();
  await product.stop();
});

it('a Redis at maxmemory loses no run and keeps no change from being in force', async () => {
  const { baseUrl, privateKey: key, adminKey } = product;
  const reactor = await reactorOf(product, 'module.exports = async () => ({ raw: 1 });');
  const proxy = await create(product, '/proxies', { name: 'p', destination_url: receiver.url });
  const headers = { 'SVC-PROXY-KEY': String(proxy.key) };
  const forward = async (): Promise<number> =>
    (await call('GET', `${baseUrl}/proxy`, { key, headers })).status;

  await redis.config('SET', 'maxmemory', '1');
  await expect(redis.set('any', 'thing')).rejects.toThrow(/^OOM/);
  expect(await forward()).toBe(200);
  expect(
    (await call('POST', `${baseUrl}/reactors/${reactor}/react`, { key, body: {} })).status,
  ).toBe(200);
  const ids: unknown[] = [];
  for (let n = 0; n < 20; n += 1) {
    const accepted = await call('POST', `${baseUrl}/reactors/${reactor}/react`, {
      key,
      body: { callback_url: `${receiver.url}/later` },
    });
    expect(accepted.status).toBe(202);
    ids.push(accepted.body.async_request_id);
  }
  const reported = (): readonly unknown[] =>
    receiver.received
      .filter(({ url }) => url === '/later')
      .map(({ headers }) => headers['webhook-id']);
  await until(() => Promise.resolve(new Set(reported()).size === ids.length), 60_000);

  const deleted = await call('DELETE', `${baseUrl}/proxies/${proxy.id}`, { key: adminKey });
  expect(deleted.status).toBe(204);
  expect(await forward()).toBe(404);
  await redis.config('SET', 'maxmemory', '0');
});
