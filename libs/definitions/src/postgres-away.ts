import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { refusesConnections, type Sql } from '@glovebox/database';
import type { KeyRing } from '@glovebox/seal';
import { keepSubscribed } from './keep-subscribed';
import { formatHead, type LogHead } from './log';

/**
 * Only a process of the management API, a writer, acknowledges changes. Where Postgres refuses all
 * of them, none can acknowledge one: see docs/adr/0013. A process that Postgres refuses asks the
 * writers through Redis, and each that is refused as well answers with a proof.
 */

/** Writer → a number that it raises as long as Postgres answers it. */
export const writersKey = '{glovebox}:definitions:writers';
export const questionChannel = '{glovebox}:definitions:is-postgres-away';
const answerChannelOf = (asker: string): string => `{glovebox}:definitions:refusals:${asker}`;

const answeredWithinMs = 500;
/** Other programs may write to Redis: a flood of questions costs a writer neither memory nor time. */
const questionsWaitingMax = 1_000;
const questionFormat = /^[0-9a-f-]{36} [0-9a-f-]{36}$/;
/** A killed writer is taken off the list after so many signs of another one. No clock counts. */
const signsOfSilence = 60;

interface Refusal {
  readonly writer: string;
  /** The newest version that the writer has, its own acknowledgements included. */
  readonly known: LogHead;
  readonly asker: string;
  /** Drawn by the asker. The writer was refused after it had seen it. */
  readonly ticket: string;
}

/** The side of a process that acknowledges no changes. */
export class WriterPoll {
  readonly #id = randomUUID();
  #onAnswer: (answer: string) => void = () => undefined;
  #subscription: { stop(): void } | undefined;

  constructor(
    private readonly options: {
      readonly ring: KeyRing;
      readonly redis: Redis;
      readonly subscriber: Redis;
    },
  ) {}

  start(): void {
    const { subscriber } = this.options;
    this.#subscription = keepSubscribed(subscriber, answerChannelOf(this.#id), (answer) =>
      this.#onAnswer(answer),
    );
  }

  stop(): void {
    this.#subscription?.stop();
  }

  /**
   * Returns the newest version that any writer knows. Undefined unless Postgres has refused every
   * listed writer since this was called.
   */
  async ask(epoch: string): Promise<number | undefined> {
    const { ring, redis } = this.options;
    const ticket = randomUUID();
    const writers = new Set(await redis.hkeys(writersKey));
    if (writers.size === 0) return undefined;
    const known = new Map<string, number>();
    const timeIsUp = new AbortController();
    try {
      const answered = new Promise<void>((resolve) => {
        this.#onAnswer = (answer) => {
          const [writer = '', version = '', proof = ''] = answer.split(' ');
          const head = { epoch, version: Number(version) };
          const refusal = { writer, known: head, asker: this.#id, ticket };
          if (!writers.has(writer) || !isProven(ring, refusal, proof)) return;
          known.set(writer, head.version);
          if (known.size === writers.size) resolve();
        };
      });
      await redis.publish(questionChannel, `${this.#id} ${ticket}`);
      await Promise.race([
        answered,
        delay(answeredWithinMs, undefined, { signal: timeIsUp.signal }),
      ]);
    } finally {
      timeIsUp.abort();
      this.#onAnswer = () => undefined;
    }
    return known.size === writers.size ? Math.max(...known.values()) : undefined;
  }
}

/** The side of a writer. */
export class WriterSigns {
  readonly #id = randomUUID();
  readonly #stopped = new AbortController();
  /** Other writers: the last number seen, and how often it was seen. */
  readonly #seen = new Map<string, { readonly sign: string; readonly times: number }>();
  #questions: string[] = [];
  #answering: Promise<void> | undefined;
  #loop: Promise<void> | undefined;
  #subscription: { stop(): void } | undefined;

  constructor(
    private readonly options: {
      readonly sql: Sql;
      readonly ring: KeyRing;
      readonly redis: Redis;
      readonly subscriber: Redis;
      /** It has every version that this process acknowledged. */
      readonly follower: { readonly head: LogHead | undefined };
      readonly signIntervalMs?: number;
      readonly onFault: (error: unknown) => void;
    },
  ) {}

  async start(): Promise<void> {
    const { subscriber, onFault } = this.options;
    this.#subscription = keepSubscribed(subscriber, questionChannel, (message) => {
      if (this.#questions.length === questionsWaitingMax || !questionFormat.test(message)) return;
      this.#questions.push(message);
      this.#answering ??= this.#answer().finally(() => (this.#answering = undefined));
    });
    await this.#sign().catch(onFault);
    this.#loop = this.#run();
  }

  /**
   * Leaves the list, unless Postgres is away: then nobody else may know what this process
   * acknowledged last.
   */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#subscription?.stop();
    await this.#loop;
    await this.#answering;
    if (this.#loop) await this.#leave().catch(this.options.onFault);
  }

  async #leave(): Promise<void> {
    await this.#askPostgres();
    await this.options.redis.hdel(writersKey, this.#id);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    const { signIntervalMs = 500, onFault } = this.options;
    for (;;) {
      await delay(signIntervalMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      await this.#sign().catch(onFault);
    }
  }

  /**
   * A writer that Postgres does not answer gives no sign: an emptied list stays empty while
   * Postgres is away, and calls end.
   */
  async #sign(): Promise<void> {
    const { redis } = this.options;
    await this.#askPostgres();
    await redis.hincrby(writersKey, this.#id, 1);
    const signs = Object.entries(await redis.hgetall(writersKey));
    const others = signs.filter(([writer]) => writer !== this.#id);
    const before = new Map(this.#seen);
    this.#seen.clear();
    for (const [writer, sign] of others) {
      const last = before.get(writer);
      const times = last?.sign === sign ? last.times + 1 : 0;
      if (times > signsOfSilence) await redis.hdel(writersKey, writer);
      else this.#seen.set(writer, { sign, times });
    }
  }

  async #askPostgres(): Promise<void> {
    await this.options.sql.query('SELECT 1');
  }

  /** Asks Postgres once for all questions that came before. */
  async #answer(): Promise<void> {
    while (this.#questions.length > 0) {
      const questions = this.#questions;
      this.#questions = [];
      const isRefused = await this.#askPostgres().then(() => false, refusesConnections);
      const known = this.options.follower.head;
      if (isRefused && known) await this.#tell(questions, known);
    }
  }

  async #tell(questions: readonly string[], known: LogHead): Promise<void> {
    const { redis, ring, onFault } = this.options;
    const told = questions.map((question) => {
      const [asker = '', ticket = ''] = question.split(' ');
      const proof = proofOf(ring, { writer: this.#id, known, asker, ticket });
      return redis.publish(answerChannelOf(asker), `${this.#id} ${known.version} ${proof}`);
    });
    await Promise.all(told).catch(onFault);
  }
}

/** Makes a proof by each master key of the ring: while one is added or taken out, rings differ. */
export function proofOf(ring: KeyRing, refusal: Refusal): string {
  return [...ring.versions]
    .map((version) => `${version}:${hashOf(ring, version, refusal).toString('base64')}`)
    .join(',');
}

export function isProven(ring: KeyRing, refusal: Refusal, proof: string): boolean {
  const parts = proof.split(',');
  // Tries each key once, however often a proof names it.
  return [...ring.versions].some((version) => {
    const prefix = `${version}:`;
    const part = parts.find((text) => text.startsWith(prefix));
    if (part === undefined) return false;
    const given = Buffer.from(part.slice(prefix.length), 'base64');
    const expected = hashOf(ring, version, refusal);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

function hashOf(ring: KeyRing, version: number, { writer, known, asker, ticket }: Refusal): Buffer {
  return createHmac('sha256', ring.derive(version, 'definitions in Redis: refusal', ''))
    .update(`${writer} ${formatHead(known)} ${asker} ${ticket}`)
    .digest();
}
