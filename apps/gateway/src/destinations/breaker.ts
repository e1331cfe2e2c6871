const failuresMax = 10;
const pauseMs = 1_000;

/**
 * After 10 failed connections in a row, one call a second tries again and the others fail without
 * waiting. One connection that succeeds is enough.
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
