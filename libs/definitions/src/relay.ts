import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Sql } from '@glovebox/database';
import { readLog } from './log';
import { acknowledgementChannel, confirmationMs, RedisPrefix } from './redis-prefix';

const partSize = 500;

export interface RelayOptions {
  readonly sql: Sql;
  /** Commands only: answers or fails quickly, and never queues while it is not connected. */
  readonly redis: Redis;
  /** A connection that may subscribe. */
  readonly subscriber: Redis;
  readonly intervalMs?: number;
  readonly acknowledgeMs?: number;
  readonly onFault?: (error: unknown) => void;
}

/**
 * Carries the log from Postgres to Redis. Any number of relays may run, in the worker and in the
 * management API: each push is "what is after Redis's head", and Redis takes it once.
 */
export class DefinitionRelay {
  readonly #prefix: RedisPrefix;
  readonly #waiting = new Set<(follower: string, version: number) => void>();
  readonly #stopped = new AbortController();
  #pushing: Promise<void> | undefined;
  #loop: Promise<void> | undefined;

  constructor(private readonly options: RelayOptions) {
    this.#prefix = new RedisPrefix(options.redis);
  }

  start(): void {
    this.options.subscriber.on('message', (channel, message) => {
      if (channel === acknowledgementChannel) this.#onAcknowledged(message);
    });
    // Subscribing may wait for Redis to come up; the relay's own work does not.
    this.options.subscriber.subscribe(acknowledgementChannel).catch((error: unknown) => {
      this.options.onFault?.(error);
    });
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop;
  }

  /**
   * Pushes, and returns when every follower that listens has the version, or when the time is up:
   * then the leases see to it.
   */
  async announce(version: number): Promise<void> {
    const { acknowledgeMs = 250 } = this.options;
    const timeIsUp = delay(acknowledgeMs, undefined, { ref: false });
    const followers = new Set<string>();
    let receivers = Infinity;
    await new Promise<void>((resolve) => {
      const listen = (follower: string, applied: number): void => {
        if (applied >= version) followers.add(follower);
        if (followers.size >= receivers) resolve();
      };
      this.#waiting.add(listen);
      void timeIsUp.then(resolve);
      this.#push(true).then(
        (told) => {
          receivers = told;
          if (followers.size >= receivers) resolve();
        },
        (error: unknown) => this.options.onFault?.(error),
      );
      void timeIsUp.finally(() => this.#waiting.delete(listen));
    });
  }

  async #run(): Promise<void> {
    const { intervalMs = 150 } = this.options;
    while (!this.#stopped.signal.aborted) {
      await this.#sharedPush().catch((error: unknown) => this.options.onFault?.(error));
      await delay(intervalMs, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
    }
  }

  #sharedPush(): Promise<void> {
    this.#pushing ??= this.#push(false)
      .then(() => undefined)
      .finally(() => (this.#pushing = undefined));
    return this.#pushing;
  }

  /** Brings Redis to the head of Postgres. Returns how many followers were told. */
  async #push(announce: boolean): Promise<number> {
    const { sql } = this.options;
    for (;;) {
      const confirmUntil = (await this.#prefix.now()) + confirmationMs;
      const { text, head: before } = await this.#prefix.head();
      let part = await readLog(sql, before?.version ?? 0, partSize);
      // Redis speaks of another database, or of a later state than the database has: begin anew.
      const anew = before?.epoch !== part.head.epoch || before.version > part.head.version;
      if (anew && before) part = await readLog(sql, 0, partSize);
      const complete = part.upTo === part.head.version;
      const { head, receivers } = await this.#prefix.apply(text, part, {
        anew,
        confirmUntil: complete ? confirmUntil : 0,
        announce: announce && complete,
      });
      const arrived = head?.epoch === part.head.epoch && head.version >= part.head.version;
      if (arrived) return receivers;
    }
  }

  #onAcknowledged(message: string): void {
    const [follower, version] = message.split(' ');
    if (!follower) return;
    for (const listen of this.#waiting) listen(follower, Number(version));
  }
}
