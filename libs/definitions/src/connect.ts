import type { Redis } from 'ioredis';
import { connectDatabase } from '@glovebox/database';
import { connectRedis, type RedisPlace } from '@glovebox/redis';
import type { KeyRing } from '@glovebox/seal';
import { Announcements } from './announcements';
import { DefinitionFollower } from './follower';
import { WriterPoll, WriterSigns } from './postgres-away';

export interface DefinitionConnection {
  readonly follower: DefinitionFollower;
  /** For single quick commands: it answers or fails within 200 ms. */
  readonly redis: Redis;
  /** Tells every process of a change committed here. Only where `writes` is set. */
  announce(version: number): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Connects a process to the definitions, on connections of its own: neither a busy pool nor a queue
 * of commands may end the lease.
 */
export function connectDefinitions(options: {
  readonly app: string;
  readonly databaseUrl: string;
  readonly redis: RedisPlace;
  readonly ring: KeyRing;
  /** True if this process acknowledges changes of definitions. */
  readonly writes?: boolean;
  /** Time that calls go on while Postgres refuses every writer. 0, the default: one lease. */
  readonly postgresAwayMaxMs?: number;
  readonly onFault: (error: unknown) => void;
  /** An operator has to decide before anything is served from this database. */
  readonly onRestored?: (error: unknown) => void;
}): DefinitionConnection {
  const { app, ring, onFault, onRestored = onFault } = options;
  const sql = connectDatabase({
    url: options.databaseUrl,
    app: `${app}-definitions`,
    connectionsMax: 3,
    statementTimeoutMs: 1_000,
    onIdleError: onFault,
  });
  const redis = connectRedis(options.redis, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 200,
    socketTimeout: 1_000,
    connectTimeout: 1_000,
    disconnectTimeout: 100,
    retryStrategy: reconnectSoon,
  });
  const subscriber = connectRedis(options.redis, {
    enableOfflineQueue: false,
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    socketTimeout: 1_000,
    connectTimeout: 1_000,
    disconnectTimeout: 100,
    retryStrategy: reconnectSoon,
  });
  redis.on('error', onFault);
  subscriber.on('error', onFault);
  const { writes = false, postgresAwayMaxMs = 0 } = options;
  const stores = { sql, ring, redis, subscriber, onFault, onRestored };
  const writers = new WriterPoll(stores);
  const follower = new DefinitionFollower({ ...stores, writers, postgresAwayMaxMs });
  const announcements = new Announcements({ ...stores, follower, writes });
  const signs = new WriterSigns({ ...stores, follower });

  return {
    follower,
    redis,
    announce: (version) => announcements.announce(version),
    async start() {
      announcements.start();
      if (postgresAwayMaxMs > 0) writers.start();
      await follower.start();
      if (writes) await signs.start();
    },
    async close() {
      announcements.stop();
      writers.stop();
      await signs.stop();
      await follower.stop();
      disconnect(redis);
      disconnect(subscriber);
      await sql.close();
    },
  };
}

/** ioredis keeps the timer of an unanswered command running, which keeps the process alive. */
function disconnect(redis: Redis): void {
  redis.disconnect();
  clearTimeout(redis['socketTimeoutTimer']);
}

const reconnectSoon = (tries: number): number => Math.min(tries * 50, 500);
