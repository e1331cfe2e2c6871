import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Redis } from 'ioredis';
import type { DefinitionConnection } from '@glovebox/definitions';
import { buildInfo, every, type RepeatedWork } from '@glovebox/service-host';

/** A runner, as it said to a process that it is connected to. */
export interface LiveRunner {
  readonly id: string;
  readonly release: string;
  readonly level: number;
}

/** The word of a process about itself, for the doctor and the overview. */
export interface LiveProcess {
  readonly id: string;
  readonly app: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly commit: string;
  readonly node: string;
  /** The database whose definitions it has, and how far it has read them. */
  readonly epoch: string | undefined;
  readonly definitions: number;
  readonly behind: number;
  /** What keeps it from serving them. Processes of 0.1.0 do not tell. */
  readonly loading?: string | undefined;
  readonly toldMs: number;
  /** The connections to Postgres that it may open. */
  readonly connections: number;
  /** The runners that it is connected to. */
  readonly runners: readonly LiveRunner[];
  /** When it said so, by its own clock. */
  readonly at: number;
}

const everyMs = 2_000;
const toldRunnersMax = 100;
/** Processes of the same time share a key, which is gone soon after them: nobody has to clean up. */
const spanMs = 30_000;

const keyOf = (now: number): string => `{glovebox}:processes:${Math.floor(now / spanMs)}`;

/** Tells of this process until it is stopped. A Redis that is away is told nothing. */
export function tellOfProcess(
  { redis, follower }: Pick<DefinitionConnection, 'redis' | 'follower'>,
  { app, connections }: Pick<LiveProcess, 'app' | 'connections'>,
  runners: () => readonly LiveRunner[],
): RepeatedWork {
  const id = randomUUID();
  let key = keyOf(Date.now());
  const tell = async (): Promise<void> => {
    const told: LiveProcess = {
      id,
      app,
      host: hostname(),
      pid: process.pid,
      ...buildInfo,
      epoch: follower.head?.epoch,
      definitions: follower.head?.version ?? 0,
      behind: follower.behind,
      loading: follower.loading,
      toldMs: Math.round(follower.toldMsAgo),
      connections,
      runners: runners().slice(0, toldRunnersMax),
      at: Date.now(),
    };
    key = keyOf(Date.now());
    await redis
      .multi()
      .hset(key, id, JSON.stringify(told))
      .pexpire(key, 2 * spanMs)
      .exec();
  };
  const telling = every(everyMs, tell, { onFault: () => undefined, atOnce: true });
  // A process that starts is not connected yet.
  const tellAtOnce = (): void => void tell().catch(() => undefined);
  redis.on('ready', tellAtOnce);
  return {
    async stop() {
      redis.off('ready', tellAtOnce);
      await telling.stop();
      await redis.hdel(key, id).catch(() => undefined);
    },
  };
}

/** The processes that told of themselves in the last half minute or so. */
export async function liveProcesses(redis: Redis): Promise<readonly LiveProcess[]> {
  const now = Date.now();
  // In the order of their age: what a process said last stands.
  const spans = [now - spanMs, now, now + spanMs].map((at) => redis.hgetall(keyOf(at)));
  const told = Object.assign({}, ...(await Promise.all(spans))) as Record<string, string>;
  return Object.values(told).map((text) => JSON.parse(text) as LiveProcess);
}
