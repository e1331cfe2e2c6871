import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { Problem } from '@glovebox/problems';
import type { DefinitionFollower } from './follower';
import { keepSubscribed } from './keep-subscribed';
import { formatHead, parseHead } from './log';

export const changeChannel = '{glovebox}:definitions:changed';
const acknowledgementChannel = '{glovebox}:definitions:acknowledged';

const acknowledgedWithinMs = 250;

/** Tells every process of changes that were committed here, and hears of those of others. */
export class Announcements {
  readonly #id = randomUUID();
  readonly #waiting = new Set<Acknowledgements>();
  #subscriptions: { stop(): void }[] = [];

  constructor(
    private readonly options: {
      readonly redis: Redis;
      readonly subscriber: Redis;
      readonly follower: DefinitionFollower;
      /** True if this process acknowledges changes of definitions. */
      readonly writes: boolean;
      readonly onFault: (error: unknown) => void;
    },
  ) {}

  start(): void {
    const { subscriber, writes, onFault } = this.options;
    this.#subscriptions = [
      keepSubscribed(subscriber, changeChannel, (message) => {
        this.#onChange(message).catch(onFault);
      }),
    ];
    if (!writes) return;
    const acknowledgements = keepSubscribed(subscriber, acknowledgementChannel, (message) =>
      this.#onAcknowledged(message),
    );
    this.#subscriptions.push(acknowledgements);
  }

  stop(): void {
    for (const subscription of this.#subscriptions) subscription.stop();
  }

  /**
   * Returns when every follower that listens has the version, or when the time is up: then the
   * leases end. Throws if Postgres is gone before this process has read the version: nobody could
   * vouch for it (docs/adr/0013).
   */
  async announce(version: number): Promise<void> {
    const { follower, redis, onFault } = this.options;
    await follower.reach(version);
    const { head } = follower;
    if (!head || head.version < version) {
      throw new Problem('service_unavailable', { retryAfterSeconds: 1 });
    }
    const heard = new Acknowledgements(version);
    this.#waiting.add(heard);
    const timeIsUp = new AbortController();
    try {
      const receivers = redis.publish(changeChannel, formatHead(head)).catch((error: unknown) => {
        onFault(error);
        // Without a message they need this time to ask by themselves.
        return Infinity;
      });
      await Promise.race([
        receivers.then((count) => heard.from(count)),
        delay(acknowledgedWithinMs, undefined, { signal: timeIsUp.signal }),
      ]);
    } finally {
      timeIsUp.abort();
      this.#waiting.delete(heard);
    }
  }

  async #onChange(message: string): Promise<void> {
    const told = parseHead(message);
    if (!told) return;
    const { follower, redis } = this.options;
    await follower.reach(told.version);
    const { head } = follower;
    if (head?.epoch !== told.epoch || head.version < told.version) return;
    await redis.publish(acknowledgementChannel, `${this.#id} ${head.version}`);
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
