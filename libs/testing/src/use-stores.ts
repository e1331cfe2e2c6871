import { Redis } from 'ioredis';
import { Client } from 'pg';
import { startRedis, type PrivateRedis } from './redis';
import { createTestDatabase, type TestDatabase } from './test-database';

/** Starts a database and a Redis for the tests of one suite, which may count connections to them. */
export function useStores(): {
  urls(): Pick<TestDatabase, 'dataUrl' | 'managementUrl'> & { readonly redisUrl: string };
  openConnections(): Promise<number>;
} {
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
  return {
    urls: () => ({ ...database, redisUrl: redis.url }),
    async openConnections() {
      const { rows } = await postgresClient.query<{ count: number }>(
        `SELECT count(*)::int FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      );
      const clients = String(await redisClient.client('LIST'))
        .trim()
        .split('\n');
      return (rows[0]?.count ?? 0) + clients.length - 1;
    },
  };
}
