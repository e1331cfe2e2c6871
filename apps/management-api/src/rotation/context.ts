import type { Redis } from 'ioredis';
import { connectDatabase, type Database } from '@glovebox/database';
import { connectRedis } from '@glovebox/redis';
import { parseKeyRing, type KeyRing } from '@glovebox/seal';
import type { RotationConfig } from '../config';

/** The context of the command that rotates the master key. Its role may do nothing else. */
export interface RotationContext {
  readonly database: Database;
  readonly redis: Redis;
  readonly ring: KeyRing;
  close(): Promise<void>;
}

export function createRotationContext(config: RotationConfig): RotationContext {
  const url = config.DATABASE_URL.reveal();
  const ring = parseKeyRing(config.KEY_RING.reveal());
  const database = connectDatabase({
    url,
    app: 'rotation',
    connectionsMax: 2,
    // Statements count over whole tables.
    statementTimeoutMs: 120_000,
  });
  const redis = connectRedis(config, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 2_000,
  });
  // The status at the end reports that Redis does not answer.
  redis.on('error', () => undefined);
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
