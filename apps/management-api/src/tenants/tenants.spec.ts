import {
  createTestDatabase,
  startRedis,
  type PrivateRedis,
  type TestDatabase,
} from '@glovebox/testing';
import { startTestApi, type TestApi } from '../test-api';

let database: TestDatabase;
let redis: PrivateRedis;
let api: TestApi;

beforeAll(async () => {
  database = await createTestDatabase();
  redis = await startRedis();
  api = await startTestApi({ databaseUrl: database.managementUrl, redisUrl: redis.url });
});

afterAll(async () => {
  await api.close();
  await redis.stop();
  await database.drop();
});

const path = '/tenants/self/webhook-secret';

describe('GET /tenants/self/webhook-secret', () => {
  it('200: the secret that the data plane signs with, of the own tenant alone', async () => {
    const answer = await api.get(path);
    expect(answer.status).toBe(200);
    const { secret } = answer.body as { secret: string };
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const { tenant_id: id } = api.tenant;
    const definitions = await api.ctx.definitions.follower.current();
    expect(definitions.find('tenant', id, id)?.webhookSecrets).toEqual([{ secret, until: null }]);
    const foreign = await api.get(path, api.foreign.management_key);
    expect((foreign.body as { secret: string }).secret).not.toBe(secret);
  });

  it('401 and 403', async () => {
    expect((await api.get(path, 'nobody')).status).toBe(401);
    expect((await api.get(path, api.tenant.private_key)).status).toBe(403);
    const reader = await api.keyWith('management', ['tenant:read']);
    expect((await api.get(path, reader)).status).toBe(403);
  });
});
