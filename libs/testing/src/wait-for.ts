import { setTimeout as sleep } from 'node:timers/promises';

const heldUpMs = 10;
const patienceMaxMs = 60_000;

/**
 * Polls until the condition holds and returns its result. A time-out names the last error. Where this
 * process is held up itself, as by a busy machine, it waits that much longer, up to a minute.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 20_000, intervalMs = 10 }: { timeoutMs?: number; intervalMs?: number } = {},
): Promise<T> {
  const begun = performance.now();
  const latest = begun + Math.max(timeoutMs, patienceMaxMs);
  let deadline = begun + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const result = await condition();
      if (result) return result;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    const lookedAt = performance.now();
    if (lookedAt > Math.min(deadline, latest)) {
      throw new Error(`the condition did not hold within ${timeoutMs} ms`, { cause: lastError });
    }
    await sleep(intervalMs);
    const lateMs = performance.now() - lookedAt - intervalMs;
    if (lateMs > heldUpMs) deadline += lateMs;
  }
}
