import type { Cancellation } from '@glovebox/sandbox';

/** Tells the parts of a run that its client has given it up. An AbortController costs ten times as much. */
export class RunCancellation implements Cancellation {
  aborted = false;
  readonly #listeners = new Set<() => void>();

  addEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }

  cancel(): void {
    if (this.aborted) return;
    this.aborted = true;
    for (const listener of this.#listeners) listener();
  }
}
