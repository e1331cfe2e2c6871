import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  createTestDatabase,
  freePort,
  startRedis,
  type PrivateRedis,
  type TestDatabase,
} from '@glovebox/testing';
import { managementReadiness } from './health';
import { startTestApi, type TestApi } from './test-api';

const formula = { name: 'F', code: 'module.exports = () => ({})' };

it('starts and serves without Redis', async () => {
  const database = await createTestDatabase();
  const nowhere = `redis://127.0.0.1:${await freePort()}`;
  const api = await startTestApi({ databaseUrl: database.managementUrl, redisUrl: nowhere });
  try {
    const created = await api.post('/reactor-formulas', formula);
    expect(created.status).toBe(201);
    const { id } = created.body as { id: string };
    expect((await api.get(`/reactor-formulas/${id}`)).status).toBe(200);
    // A new key counts at once here, because this process asks Postgres.
    const key = await api.keyWith('private', ['token:create']);
    expect((await api.post('/tokens', { data: 1 }, key)).status).toBe(201);
    expect(await managementReadiness(api.ctx)).toEqual({
      ready: true,
      components: { definitions: 'up', keys: 'up', postgres: 'up', redis: 'down' },
    });
  } finally {
    await api.close();
    await database.drop();
  }
});

describe('Postgres', () => {
  let database: TestDatabase;
  let redis: PrivateRedis;
  let line: Line;
  let api: TestApi;

  beforeAll(async () => {
    database = await createTestDatabase();
    redis = await startRedis();
    line = await startLine(new URL(database.managementUrl));
    api = await startTestApi({ databaseUrl: line.url, redisUrl: redis.url });
  });

  afterAll(async () => {
    await line.restore();
    await api.close();
    await line.close();
    await redis.stop();
    await database.drop();
  });

  it('503 with Retry-After while it is away, and 201 once it is back', async () => {
    expect((await api.post('/reactor-formulas', formula)).status).toBe(201);
    await line.cut();
    const answers = await Promise.all([
      api.post('/reactor-formulas', formula),
      api.get(`/reactors/${randomUUID()}`),
      api.post('/tokens', { data: 1 }, api.tenant.private_key),
    ]);
    for (const answer of answers) {
      expect(answer.status).toBe(503);
      expect(answer.headers['retry-after']).toMatch(/^\d+$/);
      expect(answer.body).toEqual({
        title: 'The service is not available at the moment.',
        status: 503,
        code: 'service_unavailable',
      });
    }
    expect((await managementReadiness(api.ctx)).ready).toBe(false);
    await line.restore();
    expect((await api.post('/reactor-formulas', formula)).status).toBe(201);
  });
});

interface Line {
  readonly url: string;
  cut(): Promise<void>;
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** The way to Postgres, for cutting. */
async function startLine(target: URL): Promise<Line> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = new URL(target);
  url.port = String(port);
  const cut = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    url: url.href,
    cut,
    async restore() {
      if (server.listening) return;
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    close: cut,
  };
}
