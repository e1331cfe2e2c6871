import type { Cancellation } from '@glovebox/sandbox';
import type { CallerResponse, UnderWay } from './caller-response';

/**
 * Cancels a run when its caller leaves. An AbortSignal would do the same: it costs as much as all
 * else that the gateway notes of a call, and makes an error with a stack at the end of each.
 */
export class CallerLeft implements Cancellation, UnderWay {
  aborted: boolean;
  readonly #listeners = new Set<() => void>();

  constructor(res: CallerResponse) {
    this.aborted = res.destroyed;
    res.exchange = this;
  }

  addEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }

  callerLeft(): void {
    this.aborted = true;
    for (const listener of this.#listeners) listener();
  }
}
