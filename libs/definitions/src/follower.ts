import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { refusesConnections, type Sql } from '@glovebox/database';
import { Problem } from '@glovebox/problems';
import type { KeyRing } from '@glovebox/seal';
import { listLog, logPartEntriesMax, type LogHead, type LogList } from './log';
import { DatabaseMarker, DatabaseWasRestored } from './marker';
import { Payloads } from './payloads';
import type { WriterPoll } from './postgres-away';
import { Replica, type ToldNewer } from './replica';
import type { DefinitionSnapshot } from './snapshot';

/** Knowledge of one moment is in force for at most a second after it. */
const leaseMs = 1_000;
/** A connection may be dead and not say so. Postgres is then asked on another one, within the lease. */
const askAgainAfterMs = 400;
const askEveryMs = 250;
const startAgainAfterMs = 250;
const tellAgainAfterMs = 60_000;

/** The source of the lease. `writers`: Postgres is away, and no writer has acknowledged more. */
type LeaseSource = 'postgres' | 'writers';

interface FollowerOptions {
  readonly sql: Sql;
  readonly ring: KeyRing;
  /** For commands only. It answers or fails quickly, and never queues while it is not connected. */
  readonly redis: Redis;
  readonly writers: WriterPoll;
  /** Time that calls go on while Postgres refuses every writer. 0: not at all. */
  readonly postgresAwayMaxMs?: number;
  readonly onFault?: (error: unknown) => void;
  /** Told at once, and once a minute while it lasts. */
  readonly onRestored?: (error: DatabaseWasRestored) => void;
  /** Told of definitions that this process is too old for, up to a number of them. */
  readonly onNewer?: ((newer: ToldNewer) => void) | undefined;
}

/**
 * Keeps this process's definitions at the head of the log, under a lease. Postgres tells the head
 * and what is new. The lease ends a second after Postgres was asked, on this process's own clock.
 */
export class DefinitionFollower {
  readonly #payloads: Payloads;
  readonly #replica: Replica;
  readonly #marker: DatabaseMarker;
  readonly #stopped = new AbortController();
  readonly #onFault: (error: unknown) => void;
  #leaseUntil = 0;
  #source: LeaseSource | undefined;
  /** The time at which Postgres was last asked for a head that is applied. */
  #toldAt = performance.now();
  /** The head of the log at its last reading. Undefined before the first. */
  #logHead: LogHead | undefined;
  #isLoaded = false;
  #restored: { readonly error: DatabaseWasRestored; readonly toldAt: number } | undefined;
  #reading: Promise<void> | undefined;
  #extending: Promise<void> | undefined;
  #renewing: Promise<boolean> | undefined;
  #loop: Promise<void> | undefined;

  constructor(private readonly options: FollowerOptions) {
    const { sql, ring, redis } = options;
    this.#onFault = (error) => {
      if (!isRestored(error)) options.onFault?.(error);
    };
    this.#payloads = new Payloads(sql, redis, this.#onFault);
    this.#replica = new Replica(ring, this.#onFault, options.onNewer);
    this.#marker = new DatabaseMarker({ sql, redis, ring, onFault: this.#onFault });
  }

  /**
   * Resolves with the first complete snapshot. A store that is slow or away for a moment delays it:
   * definitions already read are kept, and reading goes on from there.
   */
  async start(): Promise<void> {
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

  /** Returns the definitions, and asks Postgres first if the lease is over. */
  async current(): Promise<DefinitionSnapshot> {
    let cause: unknown;
    let isAnswered = true;
    // A reading under way may have begun so long ago that it brings old news: then one more is needed.
    for (let tries = 0; tries < 2 && isAnswered && !this.fresh(); tries += 1) {
      this.#renewing ??= this.#renew().finally(() => (this.#renewing = undefined));
      isAnswered = await this.#renewing.catch((error: unknown) => {
        cause = error;
        return false;
      });
    }
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

  get head(): LogHead | undefined {
    return this.#replica.head;
  }

  /** Versions that Postgres has told and that are not yet applied. */
  get behind(): number {
    return Math.max(0, (this.#logHead?.version ?? 0) - (this.head?.version ?? 0));
  }

  /** How many definitions this process is too old for. */
  get newer(): number {
    return this.#replica.snapshot.newer;
  }

  /** The progress of the first load, or what prevents any, in words for the log. */
  get loading(): string | undefined {
    if (this.#restored) return 'restored, waits for after-restore';
    if (this.#isLoaded) return undefined;
    return `loading, version ${this.head?.version ?? 0} of ${this.#logHead?.version ?? 'unknown'}`;
  }

  get source(): LeaseSource | undefined {
    return this.leaseLeftMs > 0 ? this.#source : undefined;
  }

  get leaseLeftMs(): number {
    return Math.max(0, this.#leaseUntil - performance.now());
  }

  /** Time since Postgres was asked for the head that is applied. */
  get toldMsAgo(): number {
    return performance.now() - this.#toldAt;
  }

  /** Definitions that this process took, by the store that they came from. */
  get taken(): Readonly<Record<'redis' | 'postgres', number>> {
    return this.#payloads.taken;
  }

  async #run(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      await delay(askEveryMs, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
      if (this.#stopped.signal.aborted) return;
      await this.#extendLease().catch(this.#onFault);
    }
  }

  /**
   * Makes a caller wait for a long catch-up as long as it makes progress, and for a store that
   * hangs one second. Returns whether the store has answered.
   */
  async #renew(): Promise<boolean> {
    const stores = this.#extendLease();
    const over = stores.then(() => true);
    for (;;) {
      const before = this.#replica.takenTo;
      const waited = new AbortController();
      const timeIsUp = delay(leaseMs, false, { signal: waited.signal });
      try {
        const isOver = await Promise.race([over, timeIsUp]);
        if (isOver || this.#replica.takenTo === before) return isOver;
      } finally {
        waited.abort();
      }
    }
  }

  /** Asks Postgres. Where it refuses connections, asks the writers. */
  #extendLease(): Promise<void> {
    this.#extending ??= this.#askStores().finally(() => (this.#extending = undefined));
    return this.#extending;
  }

  async #askStores(): Promise<void> {
    try {
      await this.#read();
    } catch (error) {
      if (!refusesConnections(error) || !(await this.#extendByWriters())) throw error;
    }
  }

  /** See docs/adr/0013. Returns false unless this process has all that any writer acknowledged. */
  async #extendByWriters(): Promise<boolean> {
    const { writers, postgresAwayMaxMs = 0 } = this.options;
    const epoch = this.head?.epoch;
    const askedAt = performance.now();
    if (epoch === undefined || askedAt - this.#toldAt >= postgresAwayMaxMs) return false;
    const known = await writers.ask(epoch);
    if (known === undefined || this.head?.epoch !== epoch || this.head.version < known)
      return false;
    this.#extend(askedAt, 'writers');
    return true;
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readLog().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #readLog(): Promise<void> {
    for (let isOvertaken = false; ;) {
      const applied = this.#replica.head;
      const { askedAt, list } = await this.#list(this.#replica.takenTo, isOvertaken);
      this.#logHead = list.head;
      if (list.isStandby) {
        this.#leaseUntil = 0;
        throw new Problem('service_unavailable', { cause: new StandbyAnswered() });
      }
      const verdict = await this.#judge(list);
      if (verdict === 'ask') continue;
      if (verdict === 'take as continued') await this.#replica.continueIn(list.head.epoch);
      const continues =
        list.head.epoch === this.#replica.head?.epoch && list.head.version >= list.after;
      if (applied && !continues) this.#leaseUntil = 0;
      if (applied && !continues) {
        await this.#replica.forget();
        continue;
      }
      const part = await this.#payloads.fetch(list);
      // A definition may change faster than its payload can be read after the list.
      isOvertaken = part.upTo < list.upTo;
      if ((await this.#replica.apply(part)) && part.upTo === part.head.version) {
        this.#toldAt = Math.max(this.#toldAt, askedAt);
        this.#marker.applied(list);
        this.#extend(askedAt, 'postgres');
        return;
      }
    }
  }

  async #judge(list: LogList): ReturnType<DatabaseMarker['judge']> {
    try {
      const verdict = await this.#marker.judge(list);
      this.#restored = undefined;
      return verdict;
    } catch (error) {
      if (isRestored(error)) {
        this.#leaseUntil = 0;
        this.#tellRestored(error.cause);
      }
      throw error;
    }
  }

  #tellRestored(error: DatabaseWasRestored): void {
    const now = performance.now();
    const told = this.#restored;
    if (told?.error.code === error.code && now - told.toldAt < tellAgainAfterMs) return;
    this.#restored = { error, toldAt: now };
    this.options.onRestored?.(error);
  }

  async #list(after: number, withPayloads: boolean): Promise<{ askedAt: number; list: LogList }> {
    const ask = async () => {
      const askedAt = performance.now();
      const list = await listLog(this.options.sql, after, logPartEntriesMax, withPayloads);
      return { askedAt, list };
    };
    const first = ask();
    const answered = new AbortController();
    const isLate = delay(askAgainAfterMs, true, { signal: answered.signal });
    try {
      const late = await Promise.race([first.then(() => false), isLate]);
      return await (late ? Promise.race([first, ask()]) : first);
    } finally {
      answered.abort();
    }
  }

  #extend(knownAt: number, source: LeaseSource): void {
    if (knownAt + leaseMs <= this.#leaseUntil) return;
    this.#leaseUntil = knownAt + leaseMs;
    this.#source = source;
  }
}

const isRestored = (error: unknown): error is Problem & { readonly cause: DatabaseWasRestored } =>
  error instanceof Problem && error.cause instanceof DatabaseWasRestored;

class StandbyAnswered extends Error {
  constructor() {
    super('Postgres is a standby: it may lack what the primary has acknowledged');
    this.name = 'StandbyAnswered';
  }
}
