import { randomBytes, randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { connectDatabase, type Database, type Sql } from '@glovebox/database';
import { parseKeyRing } from '@glovebox/seal';
import { enterTenant, createTestDatabase, startRedis, waitFor } from '@glovebox/testing';
import {
  appendDefinition,
  appendChanges,
  connectDefinitions,
  type DefinitionConnection,
  type ReactorDefinition,
} from './index';

type Options = Omit<Parameters<typeof connectDefinitions>[0], 'redis'> & {
  readonly redisUrl: string;
};

/** A database and a Redis of its own, a writer, and processes that follow. */
export async function startStage() {
  const ring = parseKeyRing(`1:${randomBytes(32).toString('base64')}`);
  const tenantId = randomUUID();
  const database = await createTestDatabase();
  const redis = await startRedis();
  const management: Database = connectDatabase({
    url: database.managementUrl,
    app: 'spec',
    connectionsMax: 20,
  });
  const opened = new Set<DefinitionConnection>();

  const reactor = (id: string, configuration: Record<string, string> = {}): ReactorDefinition => ({
    kind: 'reactor',
    id,
    tenantId,
    formulaId: randomUUID(),
    applicationId: null,
    configuration,
    isolation: 'warm',
  });
  /** Writes as the management API does: in a transaction that has entered the tenant. */
  const asTenant = (work: (sql: Sql) => Promise<number>): Promise<number> =>
    management.transaction(async (sql) => {
      await enterTenant(sql, tenantId);
      return work(sql);
    });

  return {
    ring,
    tenantId,
    database,
    redis,
    management,
    reactor,
    asTenant,
    write: (definition: ReactorDefinition) =>
      asTenant((sql) => appendDefinition(sql, ring, definition)),
    remove: (id: string) =>
      asTenant((sql) => appendChanges(sql, ring, [], [{ kind: 'reactor', id, tenantId }])),
    /** What a process has in force at this moment. */
    find: ({ follower }: DefinitionConnection, id: string) =>
      follower.fresh()?.find('reactor', tenantId, id),
    /** What a process has, also where its lease is over because it was held up itself. */
    known: ({ follower }: DefinitionConnection, id: string) =>
      follower.lastKnown.find('reactor', tenantId, id),
    /** What a call of a process gets, at last where its stores are slow. */
    current: ({ follower }: DefinitionConnection) =>
      waitFor(() => follower.current(), { timeoutMs: 60_000 }),
    connect({ redisUrl = redis.url, ...options }: Partial<Options> = {}): DefinitionConnection {
      const connection = connectDefinitions({
        app: 'spec',
        databaseUrl: database.dataUrl,
        redis: { REDIS_URL: { reveal: () => redisUrl } },
        ring,
        onFault: () => undefined,
        ...options,
      });
      opened.add(connection);
      return {
        ...connection,
        close() {
          return opened.delete(connection) ? connection.close() : Promise.resolve();
        },
      };
    },
    async disconnect(): Promise<void> {
      const all = [...opened];
      opened.clear();
      await Promise.all(all.map((connection) => connection.close()));
    },
    async close(): Promise<void> {
      await this.disconnect();
      await management.close();
      await this.redis.stop();
      await database.drop();
    },
  };
}

/** Held up for so long, a process may have asked too late for its next lease. */
const heldUpMs = 200;

/**
 * Counts the looks at which the lease was over until the returned function is called. Held up itself,
 * this process cannot tell the end of a lease from its own delay: then it looks on from the next one.
 */
export function watchLease({ follower }: DefinitionConnection): () => number {
  let ended = 0;
  let lookedAt = performance.now();
  let isHeldUp = false;
  const look = (): void => {
    const now = performance.now();
    isHeldUp ||= now - lookedAt > heldUpMs;
    lookedAt = now;
    if (follower.fresh(now)) isHeldUp = false;
    else if (!isHeldUp) ended += 1;
  };
  const watch = setInterval(look, 5).unref();
  return () => {
    clearInterval(watch);
    return ended;
  };
}

export type Stage = Awaited<ReturnType<typeof startStage>>;

/** A copy of Redis, to put it back later as a replica that lost writes would. */
export type RedisCopy = readonly (readonly [key: string, value: Buffer | null])[];

export const copyRedis = async (redis: Redis): Promise<RedisCopy> =>
  Promise.all(
    (await redis.keys('*')).map(async (key) => [key, await redis.dumpBuffer(key)] as const),
  );

export async function putBack(redis: Redis, copy: RedisCopy): Promise<void> {
  const transaction = redis.multi().flushall();
  for (const [key, value] of copy) if (value) transaction.restore(key, 0, value);
  await transaction.exec();
}
