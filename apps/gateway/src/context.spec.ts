import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { connectDatabase, type Database } from '@glovebox/database';
import { createTestDatabase, startRedis, waitFor, type TestDatabase } from '@glovebox/testing';
import { loadGatewayConfig } from './config';
import { createGatewayContext } from './context';

let testDatabase: TestDatabase;
let redis: Awaited<ReturnType<typeof startRedis>>;
let admin: Database;
let raw: Redis;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  redis = await startRedis();
  admin = connectDatabase({ url: testDatabase.adminUrl, app: 'spec', connectionsMax: 1 });
  raw = new Redis(redis.url);
});
afterAll(async () => {
  raw.disconnect();
  await admin.close();
  await redis.stop();
  await testDatabase.drop();
});

const create = (environment: Record<string, string> = {}) =>
  createGatewayContext(
    loadGatewayConfig({
      DATABASE_URL: testDatabase.dataUrl,
      REDIS_URL: redis.url,
      KEY_RING: `1:${randomBytes(32).toString('base64')}`,
      MANAGEMENT_URL: 'http://127.0.0.1:1',
      HEADER_PREFIXES: 'SVC',
      RUNNER_URLS: 'unix:/nonexistent/runner.sock',
      RUNNER_SECRET: 'secret',
      LOG_LEVEL: 'silent',
      ...environment,
    }),
    { stopping: new AbortController().signal },
  );

/** To both stores, but for the spec's own. */
async function connections(): Promise<number> {
  const [row] = await admin.query<{ count: number }>(
    `SELECT count(*)::int FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  const clients =
    String(await raw.client('LIST'))
      .trim()
      .split('\n').length - 1;
  return clients + (row?.count ?? 0);
}

it('a gateway that cannot start leaves no connection open: not without the master key, not with a wrong setting', async () => {
  const first = await create();
  await first.close();
  await waitFor(async () => (await connections()) === 0);
  const otherRing = `2:${randomBytes(32).toString('base64')}`;
  await expect(create({ KEY_RING: otherRing })).rejects.toThrow('no master key of version 1');
  await expect(create({ KEY_RING: 'wrong' })).rejects.toThrow('a key ring reads');
  await expect(create({ EGRESS_ALLOW: 'wrong' })).rejects.toThrow();
  await waitFor(async () => (await connections()) === 0);
});
