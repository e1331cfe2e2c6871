import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Sql } from '@glovebox/database';
import { Problem } from '@glovebox/problems';
import type { KeyRing } from '@glovebox/seal';
import { openDefinition } from './codec';
import { readLog, type Head, type LogPart } from './log';
import {
  acknowledgementChannel,
  changeChannel,
  confirmationMs,
  parseHead,
  RedisPrefix,
} from './redis-prefix';
import { DefinitionSnapshot } from './snapshot';

const partSize = 500;
/** What was read is in force for a second at most, counted from before it was read. */
const leaseMs = 1_000;

export interface FollowerOptions {
  readonly sql: Sql;
  readonly ring: KeyRing;
  /** Commands only: answers or fails quickly, and never queues while it is not connected. */
  readonly redis: Redis;
  readonly subscriber: Redis;
  readonly intervalMs?: number;
  readonly onFault?: (error: unknown) => void;
}

/** Keeps this process's definitions at the head of the log, under a lease. */
export class DefinitionFollower {
  readonly #id = randomUUID();
  readonly #prefix: RedisPrefix;
  readonly #stopped = new AbortController();
  #snapshot = new DefinitionSnapshot();
  #applied: Head | undefined;
  #leaseUntil = 0;
  #catchingUp: Promise<void> | undefined;
  #loop: Promise<void> | undefined;

  constructor(private readonly options: FollowerOptions) {
    this.#prefix = new RedisPrefix(options.redis);
  }

  /** Resolves with the first complete snapshot. */
  async start(): Promise<void> {
    const { subscriber } = this.options;
    subscriber.on('message', (channel, message) => {
      if (channel === changeChannel) void this.#onChange(message);
    });
    subscriber.subscribe(changeChannel).catch((error: unknown) => this.options.onFault?.(error));
    await this.#catchUp();
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop;
  }

  /** The definitions, if the lease holds: the hot path asks nobody. */
  fresh(): DefinitionSnapshot | undefined {
    return performance.now() < this.#leaseUntil ? this.#snapshot : undefined;
  }

  /** The definitions, after a look at the stores if the lease is over. */
  async current(): Promise<DefinitionSnapshot> {
    const fresh = this.fresh();
    if (fresh) return fresh;
    let cause: unknown;
    await this.#catchUp().catch((error: unknown) => void (cause = error));
    // A store that took longer than a lease to answer has told old news.
    const caughtUp = this.fresh();
    if (!caughtUp) throw new Problem('service_unavailable', { retryAfterSeconds: 1, cause });
    return caughtUp;
  }

  get head(): Head | undefined {
    return this.#applied;
  }

  async #run(): Promise<void> {
    const { intervalMs = 250 } = this.options;
    while (!this.#stopped.signal.aborted) {
      await delay(intervalMs, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
      if (this.#stopped.signal.aborted) return;
      await this.#catchUp().catch((error: unknown) => this.options.onFault?.(error));
    }
  }

  async #onChange(message: string): Promise<void> {
    const head = parseHead(message);
    if (!head) return;
    try {
      // A catch-up under way may have read before this change: then one more is needed.
      for (let tries = 0; tries < 3 && !this.#has(head); tries += 1) await this.#catchUp();
      const version = this.#applied?.version;
      if (!this.#has(head) || version === undefined) return;
      await this.options.redis.publish(acknowledgementChannel, `${this.#id} ${version}`);
    } catch (error) {
      this.options.onFault?.(error);
    }
  }

  #has(head: Head): boolean {
    return this.#applied?.epoch === head.epoch && this.#applied.version >= head.version;
  }

  #catchUp(): Promise<void> {
    this.#catchingUp ??= this.#applyMissing().finally(() => (this.#catchingUp = undefined));
    return this.#catchingUp;
  }

  async #applyMissing(): Promise<void> {
    for (;;) {
      const startedAt = performance.now();
      const fromRedis = await this.#partOfRedis();
      const part = fromRedis ?? (await this.#partOfPostgres());
      this.#apply(part);
      if (part.upTo !== part.head.version) continue;
      // What Redis says may be as old as its confirmation: that much is gone from the lease already.
      this.#leaseUntil = startedAt + leaseMs - (fromRedis ? confirmationMs : 0);
      return;
    }
  }

  /** Undefined when Redis is away, unconfirmed, or behind what this process has already applied. */
  async #partOfRedis(): Promise<LogPart | undefined> {
    const applied = this.#applied;
    if (!applied) return undefined;
    const part = await this.#prefix
      .changes(applied.version, partSize)
      .catch((error: unknown) => void this.options.onFault?.(error));
    const believed = part?.head.epoch === applied.epoch && part.head.version >= applied.version;
    return believed ? part : undefined;
  }

  async #partOfPostgres(): Promise<LogPart> {
    const { sql } = this.options;
    const part = await readLog(sql, this.#applied?.version ?? 0, partSize);
    const applied = this.#applied;
    if (!applied) return part;
    if (part.head.epoch === applied.epoch && part.head.version >= applied.version) return part;
    // Another database, or one that was restored to an earlier state: nothing known counts.
    this.#snapshot = new DefinitionSnapshot();
    this.#applied = undefined;
    this.#leaseUntil = 0;
    return readLog(sql, 0, partSize);
  }

  #apply(part: LogPart): void {
    for (const entry of part.entries) {
      const { kind, id, tenantId, payload } = entry;
      this.#snapshot.delete(kind, id);
      if (!payload) continue;
      try {
        this.#snapshot.set(openDefinition(this.options.ring, { kind, id, tenantId, payload }));
      } catch (error) {
        // Unreadable means unknown, which is refused: one bad entry must not stop all the others.
        this.#snapshot.setUnreadable(kind, id);
        this.options.onFault?.(error);
      }
    }
    this.#applied = { epoch: part.head.epoch, version: part.upTo };
  }
}
