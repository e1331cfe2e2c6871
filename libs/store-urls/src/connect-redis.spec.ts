import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import {
  startRedis,
  startReplica,
  startSentinel,
  waitFor,
  type PrivateRedis,
} from '@glovebox/testing';
import { connectRedis, redisServices } from './connect-redis';

const secret = (text: string) => ({ reveal: () => text });

let servers: PrivateRedis[] = [];
let clients: Redis[] = [];

afterEach(async () => {
  for (const client of clients) client.disconnect();
  await Promise.all(servers.map((server) => server.stop()));
  servers = [];
  clients = [];
});

const started = async (starting: Promise<PrivateRedis>): Promise<PrivateRedis> => {
  const server = await starting;
  servers.push(server);
  return server;
};

function connect(place: Parameters<typeof connectRedis>[0]): Redis {
  const client = connectRedis(
    place,
    {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: 200,
      disconnectTimeout: 100,
      retryStrategy: (tries) => Math.min(tries * 50, 500),
    },
    () => undefined,
  );
  clients.push(client);
  return client;
}

it('a client uses the primary that the sentinels name, and another one once they have promoted it', async () => {
  const primary = await started(startRedis());
  const replica = await started(startReplica(primary));
  const sentinel = await started(startSentinel(primary));
  const client = connect({
    REDIS_URL: secret('redis://not-used.invalid/3'),
    REDIS_SENTINELS: [`127.0.0.1:${sentinel.port}`],
  });
  await waitFor(() => client.set('key', 'value').catch(() => false), { timeoutMs: 10_000 });
  const copy = connect({ REDIS_URL: secret(`${replica.url}/3`) });
  await waitFor(() => copy.get('key').catch(() => null), { timeoutMs: 10_000 });
  const asked = connect({ REDIS_URL: secret(sentinel.url) });
  await waitFor(
    async () => {
      const known = await asked.call('SENTINEL', 'REPLICAS', 'mymaster').catch(() => []);
      return (known as unknown[]).length === 1;
    },
    { timeoutMs: 15_000 },
  );

  await primary.kill();
  await waitFor(() => client.set('after', 'promotion').catch(() => false), { timeoutMs: 20_000 });
  expect(await copy.get('after')).toBe('promotion');
  expect(await client.get('key')).toBe('value');
});

it.each([
  ['nothing', ''],
  ['what is no Redis', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
  ['no port', '*2\r\n$9\r\n127.0.0.1\r\n$1\r\nx\r\n'],
])('a sentinel that answers %s is passed over', async (_, answer) => {
  const primary = await started(startRedis());
  const sentinel = await started(startSentinel(primary));
  const sockets = new Set<Socket>();
  const strange = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write(answer));
  });
  await once(strange.listen(0, '127.0.0.1'), 'listening');
  try {
    const { port } = strange.address() as AddressInfo;
    const client = connect({
      REDIS_URL: secret('redis://not-used.invalid'),
      REDIS_SENTINELS: [`127.0.0.1:${port}`, `127.0.0.1:${sentinel.port}`],
    });
    await waitFor(() => client.set('key', 'value').catch(() => false), { timeoutMs: 10_000 });
    expect(sockets.size).toBeGreaterThan(0);
  } finally {
    for (const socket of sockets) socket.destroy();
    strange.close();
  }
});

it.each([
  ['a client', (client: Redis) => client],
  ['its duplicate, as BullMQ makes one', (client: Redis) => client.duplicate()],
])(
  'the deadline of an unanswered command ends with its connection, and spares the next one: %s',
  async (_, clientOf) => {
    const server = await started(startRedis());
    const socketTimeout = 400;
    const options = { maxRetriesPerRequest: null, socketTimeout, retryStrategy: () => 10 };
    const place = { REDIS_URL: secret(server.url) };
    const first = connectRedis(place, options, () => undefined);
    const client = clientOf(first);
    clients.push(first, client);
    await client.ping();
    const other = connect(place);
    const id = String(await client.client('ID'));
    const waits = client.blpop('nothing', 0.3).catch(() => undefined);
    await waitFor(() => client['socketTimeoutTimer'] !== undefined);
    const kill = () => other.client('KILL', 'ID', id).catch(() => 0);
    await waitFor(async () => (await kill()) === 1);
    await waits;
    const again = once(client, 'close').then(() => 'closed again');
    const calm = waitFor(async () => (await client.ping()) === 'PONG')
      .then(() => sleep(2 * socketTimeout))
      .then(() => 'still open');
    expect(await Promise.race([again, calm])).toBe('still open');
    client.disconnect();
    await waitFor(() => client['socketTimeoutTimer'] === undefined);
  },
);

it('login, database and TLS are those of the URL, with and without sentinels', () => {
  const url = 'rediss://user:p%40ss@redis.example:6390/2';
  const ignored = () => undefined;
  const plain = connectRedis({ REDIS_URL: secret(url) }, { lazyConnect: true }, ignored);
  const watched = connectRedis(
    {
      REDIS_URL: secret(url),
      REDIS_SENTINELS: ['[::1]:26380', 'sentinel.example'],
      REDIS_SENTINEL_MASTER: 'cache',
      REDIS_SENTINEL_PASSWORD: secret('word'),
    },
    { lazyConnect: true },
    ignored,
  );
  for (const { options } of [plain, watched]) {
    expect(options).toMatchObject({ username: 'user', password: 'p@ss', db: 2 });
    expect(options.tls).toBeTruthy();
  }
  expect(watched.options).toMatchObject({
    sentinels: [
      { host: '::1', port: 26_380 },
      { host: 'sentinel.example', port: 26_379 },
    ],
    name: 'cache',
    sentinelPassword: 'word',
    enableTLSForSentinelMode: true,
  });
});

it('the addresses that customers may not reach are those of the sentinels, or of the one server', () => {
  const REDIS_URL = secret('redis://redis.example:6390');
  expect(redisServices({ REDIS_URL })).toEqual(['redis://redis.example:6390']);
  expect(redisServices({ REDIS_URL, REDIS_SENTINELS: ['one.example', 'two.example:7'] })).toEqual([
    'one.example:26379',
    'two.example:7',
  ]);
});
