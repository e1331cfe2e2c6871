const failuresMax = 10;
const pauseMs = 1_000;

/**
 * After 10 connections in a row that failed, one call a second finds out whether it is over, and the
 * others need not wait for what will not come. One connection that succeeds is enough.
 */
export class Breaker {
  #failures = 0;
  #nextTryAt = 0;

  admits(): boolean {
    if (this.#failures < failuresMax) return true;
    const now = performance.now();
    if (now < this.#nextTryAt) return false;
    this.#nextTryAt = now + pauseMs;
    return true;
  }

  connected(): void {
    this.#failures = 0;
  }

  failed(): void {
    this.#failures += 1;
    if (this.#failures === failuresMax) this.#nextTryAt = performance.now() + pauseMs;
  }
}
