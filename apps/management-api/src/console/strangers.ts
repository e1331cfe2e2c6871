import type { IncomingMessage } from 'node:http';
import type { RateLimit } from '@glovebox/rates';
import { clientNetworkOf } from '@glovebox/wire';

/** Keys of sessions that were found. Beyond them the oldest is a stranger once more. */
const knownKeysMax = 10_000;

/**
 * Bounds what callers cost who are not known yet: each asks Postgres, and begins what others would
 * have to wait for. They are counted by the network that they come from (docs/adr/0110).
 */
export class Strangers {
  readonly #known = new Set<string>();

  constructor(
    private readonly rates: {
      /** Sign-ins that begin, come back from the issuer, or bring a code. */
      readonly signIns: RateLimit | null;
      /** Keys that no session was found by. */
      readonly keys: RateLimit | null;
    },
    private readonly trustedHops: number,
  ) {}

  /** Throws `rate_limited`. */
  countSignIn(request: IncomingMessage): void {
    this.rates.signIns?.count(clientNetworkOf(request, this.trustedHops));
  }

  /** Throws `rate_limited` for a key that is not known, after too many of them. */
  admitKey(request: IncomingMessage, keyHash: string): void {
    if (this.#known.has(keyHash)) return;
    this.rates.keys?.count(clientNetworkOf(request, this.trustedHops));
  }

  /** Remembers what a look-up said of a key. It is looked up again all the same. */
  learn(keyHash: string, isFound: boolean): void {
    this.#known.delete(keyHash);
    if (!isFound) return;
    this.#known.add(keyHash);
    const [oldest] = this.#known;
    if (this.#known.size > knownKeysMax && oldest !== undefined) this.#known.delete(oldest);
  }

  close(): void {
    this.rates.signIns?.close();
    this.rates.keys?.close();
  }
}
