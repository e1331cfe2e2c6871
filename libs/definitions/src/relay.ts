import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { refusesConnections, type Sql } from '@glovebox/database';
import { Problem } from '@glovebox/problems';
import type { KeyRing } from '@glovebox/seal';
import { withProofs } from './entry-proofs';
import { keepSubscribed } from './keep-subscribed';
import { manifestOf, proofOfAnswer, proofOfRefusal } from './relay-proofs';
import { readHead, readLog, type Head, type LogPart } from './log';
import {
  acknowledgementChannel,
  RedisPrefix,
  type ApplyMode,
  type DrawnTickets,
  type Survey,
} from './redis-prefix';

interface RelayOptions {
  readonly sql: Sql;
  readonly ring: KeyRing;
  /** For commands only. It answers or fails quickly, and never queues while it is not connected. */
  readonly redis: Redis;
  /** A connection that may subscribe. */
  readonly subscriber: Redis;
  /** True if this process acknowledges changes: others then rely on its word. */
  readonly writes?: boolean;
  readonly intervalMs?: number;
  readonly acknowledgeMs?: number;
  readonly onFault?: (error: unknown) => void;
}

/**
 * Carries the log from Postgres to Redis. Any number of relays may run, in the worker and in the
 * management API. Each push is "all after Redis's head", and Redis takes it once.
 */
export class DefinitionRelay {
  readonly #id = randomUUID();
  readonly #prefix: RedisPrefix;
  readonly #waiting = new Set<Acknowledgements>();
  readonly #stopped = new AbortController();
  /** The newest head of Postgres that this process has seen or acknowledged. */
  #known: Head | undefined;
  /** The last time that Redis was seen to hold all of Postgres's log, and the end of it then. */
  #complete: { readonly at: number; readonly head: Head } | undefined;
  #startedAt = performance.now();
  #loop: Promise<void> | undefined;
  #subscription: { stop(): void } | undefined;

  constructor(private readonly options: RelayOptions) {
    this.#prefix = new RedisPrefix(options.redis);
  }

  start(): void {
    this.#startedAt = performance.now();
    this.#subscription = keepSubscribed(
      this.options.subscriber,
      acknowledgementChannel,
      (message) => this.#onAcknowledged(message),
    );
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#subscription?.stop();
    await this.#loop;
    if (this.#loop && this.options.writes) {
      await this.#prefix.leave(this.#id).catch((error: unknown) => this.options.onFault?.(error));
    }
  }

  /**
   * How far Redis may be behind Postgres: the versions that it lacks, and the time since it was last
   * seen to lack none. While Postgres is away, the newest version that this process knows counts.
   */
  async lag(): Promise<{ readonly versions: number; readonly seconds: number }> {
    const head = await readHead(this.options.sql).catch(() => this.#known);
    const { at = this.#startedAt, head: inRedis } = this.#complete ?? {};
    const base = inRedis?.epoch === head?.epoch ? (inRedis?.version ?? 0) : 0;
    return {
      versions: Math.max((head?.version ?? 0) - base, 0),
      seconds: (performance.now() - at) / 1_000,
    };
  }

  /**
   * Pushes, and returns when every follower that listens has the version, or when the time is up:
   * then the leases end. Throws if Postgres is gone before Redis has the change: a change that
   * neither of them holds is not acknowledged.
   */
  async announce(version: number): Promise<void> {
    const { acknowledgeMs = 250 } = this.options;
    const heard = new Acknowledgements(version);
    const timeIsUp = new AbortController();
    this.#waiting.add(heard);
    try {
      await Promise.race([
        this.#tell(version, heard),
        delay(acknowledgeMs, undefined, { signal: timeIsUp.signal }),
      ]);
    } finally {
      timeIsUp.abort();
      this.#waiting.delete(heard);
    }
    // From now on this process vouches for the change, in Redis or not.
    if (this.#known && this.#known.version < version) this.#known = { ...this.#known, version };
  }

  async #tell(version: number, heard: Acknowledgements): Promise<void> {
    try {
      return await heard.from(await this.#push(true));
    } catch (error) {
      if (error instanceof Problem) throw error;
      this.options.onFault?.(error);
    }
    // Redis is away, and the followers have to read Postgres: it must be there.
    await this.#read(version);
    return heard.from(Infinity);
  }

  async #run(): Promise<void> {
    const { intervalMs = 150 } = this.options;
    while (!this.#stopped.signal.aborted) {
      await this.#push(false).catch((error: unknown) => this.options.onFault?.(error));
      await delay(intervalMs, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
    }
  }

  /** Brings Redis to the head of Postgres, and returns how many followers were told. */
  async #push(announce: boolean): Promise<number> {
    for (;;) {
      const begunAt = performance.now();
      const survey = await this.#prefix.survey(this.options.writes ? this.#id : undefined);
      const { text, tickets } = survey;
      const { part, mode } = await this.#missing(survey).catch(async (error: unknown) => {
        await this.#tellOfRefusal(error, tickets);
        throw error;
      });
      const complete = part.upTo === part.head.version;
      const { head, receivers } = await this.#prefix.apply(
        text,
        withProofs(this.options.ring, part),
        {
          mode,
          announce: announce && complete,
          relay: this.#id,
          tickets: complete ? tickets : [],
          manifest: manifestOf(this.options.ring, part),
          answerProof: (follower, ticket) =>
            proofOfAnswer(this.options.ring, { head: part.head, follower, ticket }),
        },
      );
      const arrived = head?.epoch === part.head.epoch && head.version >= part.head.version;
      if (!arrived) continue;
      this.#complete = { at: begunAt, head: part.head };
      return receivers;
    }
  }

  async #missing({ head, sound }: Survey): Promise<{ part: LogPart; mode: ApplyMode }> {
    if (!sound || !head) return { part: await this.#read(0), mode: head ? 'repair' : 'replace' };
    const part = await this.#read(head.version);
    if (head.epoch === part.head.epoch && head.version <= part.head.version) {
      return { part, mode: 'continue' };
    }
    return { part: part.after > 0 ? await this.#read(0) : part, mode: 'replace' };
  }

  async #read(after: number): Promise<LogPart> {
    const part = await readLog(this.options.sql, after);
    const { epoch, version } = part.head;
    const older = this.#known?.epoch === epoch && this.#known.version > version;
    if (!older || part.after > version) this.#known = part.head;
    return part;
  }

  /** Lets followers go on with Redis's copy: this process acknowledged nothing beyond it. */
  async #tellOfRefusal(error: unknown, tickets: DrawnTickets): Promise<void> {
    if (!this.options.writes || !this.#known || !refusesConnections(error)) return;
    const known = this.#known;
    await this.#prefix.refuse(this.#id, known, tickets, (follower, ticket) =>
      proofOfRefusal(this.options.ring, { writer: this.#id, known, follower, ticket }),
    );
  }

  #onAcknowledged(message: string): void {
    const [follower, version] = message.split(' ');
    if (!follower) return;
    for (const heard of this.#waiting) heard.add(follower, Number(version));
  }
}

/** The followers that have acknowledged a version. */
class Acknowledgements {
  readonly #followers = new Set<string>();
  #wanted = Infinity;
  #arrived = (): void => undefined;

  constructor(private readonly version: number) {}

  add(follower: string, version: number): void {
    if (version >= this.version) this.#followers.add(follower);
    this.#check();
  }

  from(wanted: number): Promise<void> {
    this.#wanted = wanted;
    return new Promise((resolve) => {
      this.#arrived = resolve;
      this.#check();
    });
  }

  #check(): void {
    if (this.#followers.size >= this.#wanted) this.#arrived();
  }
}
