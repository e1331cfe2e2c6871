import { randomUUID } from 'node:crypto';
import { freePort, startTcpRelay, type TcpRelay } from '@glovebox/testing';
import { managementReadiness } from './health';
import { startTestProcess, useTestStores, type TestProcess } from './spec-api';

const stores = useTestStores();
const formula = { name: 'F', code: 'module.exports = () => ({})' };

it('the API starts and serves without Redis', async () => {
  const nowhere = `redis://127.0.0.1:${await freePort()}`;
  const api = await startTestProcess({
    databaseUrl: stores.database.managementUrl,
    redisUrl: nowhere,
  });
  try {
    const created = await api.post('/reactor-formulas', formula);
    expect(created.status).toBe(201);
    const { id } = created.body as { id: string };
    expect((await api.get(`/reactor-formulas/${id}`)).status).toBe(200);
    // The new key works at once, because this process asks Postgres.
    const key = await api.keyWith('private', ['token:create']);
    expect((await api.post('/tokens', { data: 1 }, key)).status).toBe(201);
    expect(await managementReadiness(api.ctx)).toEqual({
      ready: true,
      components: { schema: 'up', definitions: 'up', keys: 'up', postgres: 'up', redis: 'down' },
    });
  } finally {
    await api.close();
  }
});

describe('the API', () => {
  let line: TcpRelay;
  let api: TestProcess;

  beforeAll(async () => {
    line = await startTcpRelay(stores.database.managementUrl);
    api = await startTestProcess({ databaseUrl: line.url, redisUrl: stores.redis.url });
  });

  afterAll(async () => {
    await line.restore();
    await api.close();
    await line.close();
  });

  it('answers 503 with Retry-After while Postgres is away, and 201 once it is back', async () => {
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
