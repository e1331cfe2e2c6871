import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { startRedis, type PrivateRedis } from './redis';
import { createTestDatabase, type TestDatabase } from './test-database';
import { waitFor } from './wait-for';

interface Closeable {
  close(): Promise<void>;
}

/**
 * Adds a test: a process that stops, or cannot start without the master key or with a wrong
 * setting, leaves no connection to Postgres or Redis open. `create` starts it with these variables.
 */
export function itLeavesNoConnectionOpen(
  process: string,
  role: 'dataUrl' | 'managementUrl',
  create: (variables: Record<string, string>) => Promise<Closeable>,
): void {
  let database: TestDatabase;
  let redis: PrivateRedis;
  let postgresClient: Client;
  let redisClient: Redis;
  beforeAll(async () => {
    [database, redis] = await Promise.all([createTestDatabase(), startRedis()]);
    postgresClient = new Client({ connectionString: database.adminUrl });
    await postgresClient.connect();
    redisClient = new Redis(redis.url);
  });
  afterAll(async () => {
    redisClient.disconnect();
    await postgresClient.end();
    await redis.stop();
    await database.drop();
  });

  /** To both stores, without those of this test. */
  const connections = async (): Promise<number> => {
    const { rows } = await postgresClient.query<{ count: number }>(
      `SELECT count(*)::int FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    const clients = String(await redisClient.client('LIST'))
      .trim()
      .split('\n');
    return (rows[0]?.count ?? 0) + clients.length - 1;
  };
  const start = (changes: Record<string, string> = {}): Promise<Closeable> =>
    create({
      DATABASE_URL: database[role],
      REDIS_URL: redis.url,
      KEY_RING: `1:${randomBytes(32).toString('base64')}`,
      LOG_LEVEL: 'silent',
      ...changes,
    });

  it(`${process} that fails to start, for its master key or a setting, leaves no connection open`, async () => {
    const first = await start();
    expect(await connections()).toBeGreaterThan(0);
    await first.close();
    await waitFor(async () => (await connections()) === 0);
    const otherRing = `2:${randomBytes(32).toString('base64')}`;
    await expect(start({ KEY_RING: otherRing })).rejects.toThrow('no master key of version 1');
    await expect(start({ KEY_RING: 'wrong' })).rejects.toThrow('a key ring reads');
    await expect(start({ EGRESS_ALLOW: 'wrong' })).rejects.toThrow();
    await waitFor(async () => (await connections()) === 0);
  });
}
