import type { Redis } from 'ioredis';
import { connectDatabase, type Database } from '@glovebox/database';
import { connectRedis } from '@glovebox/redis';
import { parseKeyRing, type KeyRing } from '@glovebox/seal';
import type { RestoreConfig } from '../config';

/** The context of the command that an operator runs on a restored database, as its owner. */
export interface RestoreContext {
  readonly database: Database;
  readonly redis: Redis;
  readonly ring: KeyRing;
  close(): Promise<void>;
}

export async function createRestoreContext(config: RestoreConfig): Promise<RestoreContext> {
  const ring = parseKeyRing(config.KEY_RING.reveal());
  const database = connectDatabase({
    url: config.DATABASE_URL.reveal(),
    app: 'after-restore',
    connectionsMax: 2,
    // A listing walks through all held rows.
    statementTimeoutMs: 120_000,
  });
  const redis = connectRedis(config, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 2_000,
    connectTimeout: 2_000,
    retryStrategy: () => null,
  });
  redis.on('error', () => undefined);
  // The report says that Redis does not answer.
  await redis.connect().catch(() => undefined);
  return {
    database,
    redis,
    ring,
    async close() {
      redis.disconnect();
      await database.close();
    },
  };
}
