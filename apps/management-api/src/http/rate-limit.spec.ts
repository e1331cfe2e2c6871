import { randomBytes, randomUUID } from 'node:crypto';
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
let other: TestApi;

const limit = 20;

beforeAll(async () => {
  database = await createTestDatabase();
  redis = await startRedis();
  const options = {
    databaseUrl: database.managementUrl,
    redisUrl: redis.url,
    env: {
      RATE_LIMIT_PER_MINUTE: String(limit),
      KEY_RING: `1:${randomBytes(32).toString('base64')}`,
    },
  };
  api = await startTestApi(options);
  other = await startTestApi(options);
});

afterAll(async () => {
  await api.close();
  await other.close();
  await redis.stop();
  await database.drop();
});

const path = `/reactor-formulas/${randomUUID()}`;

it('429 with Retry-After once a key has used up its minute, over both instances', async () => {
  const key = await api.keyWith('management', ['reactor:read']);
  const answers = await Promise.all(
    Array.from({ length: limit + 6 }, (_, index) => (index % 2 === 0 ? api : other).get(path, key)),
  );
  const refused = answers.filter(({ status }) => status === 429);
  expect(answers.filter(({ status }) => status === 404)).toHaveLength(limit);
  expect(refused).toHaveLength(6);
  for (const { body, headers } of refused) {
    expect(body).toEqual({ title: 'Too many requests.', status: 429, code: 'rate_limited' });
    expect(Number(headers['retry-after'])).toBeGreaterThan(50);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
  }
  expect((await api.get(path, api.foreign.management_key)).status).toBe(404);
});

it('401 is not counted, and comes before 429', async () => {
  for (let call = 0; call < limit + 5; call += 1) {
    expect((await api.get(path, 'nobody')).status).toBe(401);
  }
});

it('counts what is refused later too', async () => {
  const key = await api.keyWith('private', ['token:create']);
  for (let call = 0; call < limit; call += 1) {
    expect((await api.get(path, key)).status).toBe(403);
  }
  expect((await api.get(path, key)).status).toBe(429);
});

it('lets all pass while Redis is away', async () => {
  const key = await api.keyWith('management', ['reactor:read']);
  await redis.stop();
  for (let call = 0; call < limit + 5; call += 1) {
    expect((await api.get(path, key)).status).toBe(404);
  }
});
