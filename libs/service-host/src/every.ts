import { setTimeout as delay } from 'node:timers/promises';

/** Work that is repeated until it is told to stop. */
export interface RepeatedWork {
  /** Begins no further round, and resolves when the one under way has ended. */
  stop(): Promise<void>;
}

interface RepeatOptions {
  /** Gets what a round throws. The next round begins at its time all the same. */
  readonly onFault: (error: unknown) => void;
  /** Begins the first round at once, not after `ms`. */
  readonly atOnce?: boolean;
}

/**
 * Repeats work every `ms`. A round never overlaps the one before: where that takes longer, the next
 * begins when it has ended. The signal tells a long round to stop. The timer keeps no process
 * alive.
 */
export function every(
  ms: number,
  work: (stopped: AbortSignal) => Promise<unknown>,
  { onFault, atOnce = false }: RepeatOptions,
): RepeatedWork {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (): Promise<void> =>
    delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
  const repeat = async (): Promise<void> => {
    if (!atOnce) await pause();
    while (!signal.aborted) {
      const next = pause();
      await work(signal).catch(onFault);
      await next;
    }
  };
  const repeating = repeat();
  return {
    stop() {
      stopping.abort();
      return repeating;
    },
  };
}
