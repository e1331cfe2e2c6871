import { setTimeout as sleep } from 'node:timers/promises';

/** Polls until the condition holds and returns its result. A time-out names the last error. */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 5000, intervalMs = 10 }: { timeoutMs?: number; intervalMs?: number } = {},
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const result = await condition();
      if (result) return result;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    if (performance.now() > deadline) {
      throw new Error(`the condition did not hold within ${timeoutMs} ms`, { cause: lastError });
    }
    await sleep(intervalMs);
  }
}
