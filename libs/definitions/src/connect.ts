import { Redis } from 'ioredis';
import { connectDatabase } from '@glovebox/database';
import type { KeyRing } from '@glovebox/seal';
import { DefinitionFollower } from './follower';
import { DefinitionRelay } from './relay';

export interface DefinitionConnection {
  readonly follower: DefinitionFollower;
  /** Runs only if `relays` is set. */
  readonly relay: DefinitionRelay;
  /** For single quick commands: it answers or fails within 200 ms. */
  readonly redis: Redis;
  /** Tells every process of a change committed here. This process applies it without Redis, too. */
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
  readonly redisUrl: string;
  readonly ring: KeyRing;
  readonly relays: boolean;
  /** True if this process acknowledges changes of definitions. Such a process relays, too. */
  readonly writes?: boolean;
  /** Time that calls go on while Postgres refuses every writer. 0, the default: one lease. */
  readonly postgresAwayMaxMs?: number;
  readonly onFault: (error: unknown) => void;
}): DefinitionConnection {
  const { app, redisUrl, ring, onFault } = options;
  const sql = connectDatabase({
    url: options.databaseUrl,
    app: `${app}-definitions`,
    connectionsMax: 3,
    statementTimeoutMs: 1_000,
    onIdleError: onFault,
  });
  const redis = new Redis(redisUrl, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 200,
    socketTimeout: 1_000,
    connectTimeout: 1_000,
    disconnectTimeout: 100,
    retryStrategy: reconnectSoon,
  });
  const subscriber = new Redis(redisUrl, {
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
  const follower = new DefinitionFollower({
    sql,
    ring,
    redis,
    subscriber,
    postgresAwayMaxMs,
    onFault,
  });
  const relay = new DefinitionRelay({ sql, ring, redis, subscriber, writes, onFault });

  return {
    follower,
    relay,
    redis,
    async announce(version) {
      await relay.announce(version);
      await follower.reach(version);
    },
    async start() {
      await follower.start();
      if (options.relays) relay.start();
    },
    async close() {
      await follower.stop();
      await relay.stop();
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
