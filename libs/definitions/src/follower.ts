import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Sql } from '@glovebox/database';
import { Problem } from '@glovebox/problems';
import type { KeyRing } from '@glovebox/seal';
import { keepSubscribed } from './keep-subscribed';
import { readLog, type Head } from './log';
import {
  acknowledgementChannel,
  changeChannel,
  parseHead,
  RedisPrefix,
  type Look,
} from './redis-prefix';
import { isAnswerProven, isComplete, PartIncomplete, versionOfRefusal } from './relay-proofs';
import { Replica } from './replica';
import type { DefinitionSnapshot } from './snapshot';
import { Tickets } from './tickets';

/** Knowledge of one moment is in force for at most a second after it. */
const leaseMs = 1_000;
/** With less of the lease left, Postgres is asked. Two tries fit in before its end. */
const askPostgresBelowMs = 600;
const startAgainAfterMs = 250;

/** The source of the lease. `writers`: Postgres is away, and no writer has acknowledged more. */
type LeaseSource = 'redis' | 'postgres' | 'writers';

interface FollowerOptions {
  readonly sql: Sql;
  readonly ring: KeyRing;
  /** For commands only. It answers or fails quickly, and never queues while it is not connected. */
  readonly redis: Redis;
  readonly subscriber: Redis;
  readonly intervalMs?: number;
  /** Time that Redis may stand in for a Postgres that refuses every writer. 0: not at all. */
  readonly postgresAwayMaxMs?: number;
  readonly onFault?: (error: unknown) => void;
}

/**
 * Keeps this process's definitions at the head of the log, under a lease. When a relay has read
 * Postgres after a ticket of this process was drawn, Redis extends the lease to a second after the
 * drawing. So only this process's own clock counts, and a Redis that was restored, emptied or
 * replaced has no answer to a ticket that it never saw.
 */
export class DefinitionFollower {
  readonly #id = randomUUID();
  readonly #prefix: RedisPrefix;
  readonly #replica: Replica;
  readonly #tickets = new Tickets();
  readonly #stopped = new AbortController();
  readonly #onFault: (error: unknown) => void;
  #leaseUntil = 0;
  #source: LeaseSource | undefined;
  /** The time at which Postgres's head was last known. */
  #postgresKnownAt = -Infinity;
  /** The head of the log at its last reading. Undefined before the first. */
  #logHead: Head | undefined;
  #isLoaded = false;
  #looking: Promise<void> | undefined;
  #reading: Promise<void> | undefined;
  #renewing: Promise<void> | undefined;
  #loop: Promise<void> | undefined;
  #subscription: { stop(): void } | undefined;

  constructor(private readonly options: FollowerOptions) {
    this.#onFault = (error) => options.onFault?.(error);
    this.#prefix = new RedisPrefix(options.redis);
    this.#replica = new Replica(options.ring, this.#onFault);
  }

  /**
   * Resolves with the first complete snapshot. A store that is slow or away for a moment delays it:
   * definitions already read are kept, and reading goes on from there.
   */
  async start(): Promise<void> {
    this.#subscription = keepSubscribed(this.options.subscriber, changeChannel, (message) => {
      void this.#onChange(message);
    });
    await this.#load();
    this.#isLoaded = true;
    this.#loop = this.#run();
  }

  async #load(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        return await this.#read();
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        this.#onFault(error);
        await delay(startAgainAfterMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#subscription?.stop();
    await this.#loop;
  }

  /** Returns the definitions if the lease holds. Hot path: it asks nobody. */
  fresh(now = performance.now()): DefinitionSnapshot | undefined {
    return now < this.#leaseUntil ? this.#replica.snapshot : undefined;
  }

  /**
   * Returns the definitions, however old. They tell callers apart, and never decide a permission.
   */
  get lastKnown(): DefinitionSnapshot {
    return this.#replica.snapshot;
  }

  /** Returns the definitions, and asks the stores first if the lease is over. */
  async current(): Promise<DefinitionSnapshot> {
    const fresh = this.fresh();
    if (fresh) return fresh;
    let cause: unknown;
    this.#renewing ??= this.#renew().finally(() => (this.#renewing = undefined));
    await this.#renewing.catch((error: unknown) => void (cause = error));
    // A store that took longer than a lease to answer gives old news.
    const renewed = this.fresh();
    if (!renewed) throw new Problem('service_unavailable', { retryAfterSeconds: 1, cause });
    return renewed;
  }

  /** Catches up with a version that Postgres has. If something prevents that, the lease ends. */
  async reach(version: number): Promise<void> {
    // A reading under way may have begun before the version was written: then one more is needed.
    for (let tries = 0; tries < 2 && (this.head?.version ?? 0) < version; tries += 1) {
      await this.#read().catch(this.#onFault);
    }
  }

  get head(): Head | undefined {
    return this.#replica.head;
  }

  /** The progress of the first load, in words for the log. */
  get loading(): string | undefined {
    if (this.#isLoaded) return undefined;
    return `loading, version ${this.head?.version ?? 0} of ${this.#logHead?.version ?? 'unknown'}`;
  }

  get source(): LeaseSource | undefined {
    return this.leaseLeftMs > 0 ? this.#source : undefined;
  }

  get leaseLeftMs(): number {
    return Math.max(0, this.#leaseUntil - performance.now());
  }

  async #run(): Promise<void> {
    const { intervalMs = 250 } = this.options;
    while (!this.#stopped.signal.aborted) {
      await delay(intervalMs, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
      if (this.#stopped.signal.aborted) return;
      await this.#look().catch(this.#onFault);
      // This is not awaited: a Postgres that hangs must not keep this process from Redis.
      if (this.leaseLeftMs < askPostgresBelowMs) this.#read().catch(this.#onFault);
    }
  }

  /**
   * Makes a caller wait for a long catch-up as long as it makes progress, and for a store that
   * hangs one second.
   */
  async #renew(): Promise<void> {
    const stores = this.#askStores();
    const over = stores.then(() => true);
    for (;;) {
      const before = this.#replica.head?.version;
      const waited = new AbortController();
      const timeIsUp = delay(leaseMs, false, { signal: waited.signal });
      try {
        if ((await Promise.race([over, timeIsUp])) || this.#replica.head?.version === before)
          return;
      } finally {
        waited.abort();
      }
    }
  }

  async #askStores(): Promise<void> {
    await this.#look().catch(this.#onFault);
    if (!this.fresh()) await this.#read();
  }

  async #onChange(message: string): Promise<void> {
    const head = parseHead(message);
    if (!head) return;
    try {
      // A look under way may have been before this change: then one more is needed.
      for (let tries = 0; tries < 3 && !this.#has(head); tries += 1) await this.#look();
      if (!this.#has(head)) await this.#read();
      const version = this.#replica.head?.version;
      if (!this.#has(head) || version === undefined) return;
      await this.options.redis.publish(acknowledgementChannel, `${this.#id} ${version}`);
    } catch (error) {
      this.#onFault(error);
    }
  }

  #has({ epoch, version }: Head): boolean {
    const has = this.#replica.head;
    return has?.epoch === epoch && has.version >= version;
  }

  #look(): Promise<void> {
    this.#looking ??= this.#lookAtRedis().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readPostgres().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #lookAtRedis(): Promise<void> {
    for (;;) {
      const applied = this.#replica.head;
      if (!applied) return;
      const ticket = this.#tickets.draw(performance.now());
      const look = await this.#prefix.look(this.#id, ticket, applied.version);
      const { head } = look?.part ?? {};
      // The copy is of another database, or behind this process. Postgres knows more.
      if (!look || head?.epoch !== applied.epoch || head.version < applied.version) return;
      // Entries without proof are read from Postgres.
      if (!isComplete(this.options.ring, look.part, look.manifests)) {
        this.#onFault(new PartIncomplete(look.part));
        return;
      }
      if (!(await this.#replica.apply(look.part, 'redis'))) return;
      this.#believe(look);
      if (look.part.upTo === head.version) return;
    }
  }

  #believe(look: Look): void {
    const { part, answered } = look;
    if (answered && this.#has(answered.head) && this.#isProven(answered)) {
      const drawnAt = this.#tickets.drawnAt(answered.ticket);
      if (drawnAt !== undefined) this.#knowPostgres(drawnAt, 'redis');
    }
    const { postgresAwayMaxMs = 0 } = this.options;
    const refusedAt = this.#tickets.drawnAt(this.#refusedAfter(look));
    if (refusedAt === undefined || part.upTo !== part.head.version) return;
    // All that a writer acknowledged before the drawing was in this Redis: see docs/adr/0013.
    if (refusedAt - this.#postgresKnownAt < postgresAwayMaxMs) this.#extend(refusedAt, 'writers');
  }

  /** The ticket after which Postgres refused every writer, if none of them knew of more. Else 0. */
  #refusedAfter({ part, refusals }: Look): number {
    const tickets = refusals.map(({ writer, ticket, proof }) => {
      const said = { writer, follower: this.#id, ticket };
      const { epoch } = part.head;
      const version = versionOfRefusal(this.options.ring, said, epoch, proof);
      return version !== undefined && this.#has({ epoch, version }) ? ticket : 0;
    });
    return tickets.length === 0 ? 0 : Math.min(...tickets);
  }

  #isProven({ head, ticket, proof }: NonNullable<Look['answered']>): boolean {
    return isAnswerProven(this.options.ring, { head, follower: this.#id, ticket }, proof);
  }

  async #readPostgres(): Promise<void> {
    for (;;) {
      const readAt = performance.now();
      const applied = this.#replica.head;
      const part = await readLog(this.options.sql, applied?.version ?? 0);
      this.#logHead = part.head;
      const continues = part.head.epoch === applied?.epoch && part.head.version >= part.after;
      if (applied && !continues) {
        this.#leaseUntil = 0;
        await this.#replica.forget();
      } else if ((await this.#replica.apply(part, 'postgres')) && part.upTo === part.head.version) {
        this.#knowPostgres(readAt, 'postgres');
        return;
      }
    }
  }

  #knowPostgres(at: number, source: LeaseSource): void {
    this.#postgresKnownAt = Math.max(this.#postgresKnownAt, at);
    this.#extend(at, source);
  }

  #extend(knownAt: number, source: LeaseSource): void {
    if (knownAt + leaseMs <= this.#leaseUntil) return;
    this.#leaseUntil = knownAt + leaseMs;
    this.#source = source;
  }
}
