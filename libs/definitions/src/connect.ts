import type { Redis } from 'ioredis';
import { connectDatabase } from '@glovebox/database';
import type { KeyRing } from '@glovebox/seal';
import { connectRedis, type RedisPlace } from '@glovebox/store-urls';
import { Announcements } from './announcements';
import { DefinitionFollower } from './follower';
import type { ToldNewer } from './replica';
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

/** Connections to Postgres for the log of definitions. */
export const definitionConnections = 2;

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
  /** Told of definitions that this process is too old for, up to a number of them. */
  readonly onNewer?: (newer: ToldNewer) => void;
}): DefinitionConnection {
  const { app, ring, onFault, onRestored = onFault } = options;
  const sql = connectDatabase({
    url: options.databaseUrl,
    app: `${app}-definitions`,
    connectionsMax: definitionConnections,
    statementTimeoutMs: 1_000,
    onIdleError: onFault,
  });
  const quick = {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    socketTimeout: 1_000,
    connectTimeout: 1_000,
    disconnectTimeout: 100,
    retryStrategy: reconnectSoon,
  };
  const redis = connectRedis(options.redis, { ...quick, commandTimeout: 200 }, onFault);
  const subscriber = connectRedis(options.redis, { ...quick, autoResubscribe: false }, onFault);
  const { writes = false, postgresAwayMaxMs = 0 } = options;
  const stores = { sql, ring, redis, subscriber, onFault, onRestored };
  const writers = new WriterPoll(stores);
  const follower = new DefinitionFollower({
    ...stores,
    writers,
    postgresAwayMaxMs,
    onNewer: options.onNewer,
  });
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
      redis.disconnect();
      subscriber.disconnect();
      await sql.close();
    },
  };
}

const reconnectSoon = (tries: number): number => Math.min(tries * 50, 500);
