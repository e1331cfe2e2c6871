/**
 * Stops waiting, with the signal's reason. The awaited work may go on. Leaves no listener behind.
 */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise
      .finally(() => signal.removeEventListener('abort', onAbort))
      .then(resolve, (error: unknown) => reject(error as Error));
  });
}

/**
 * Makes a signal that aborts with the caller's signal, or with the error of `late` when the time is
 * over.
 */
export function limitTime(
  timeoutMs: number,
  late: () => Error,
  signal: AbortSignal | undefined,
): { readonly signal: AbortSignal; end(): void } {
  const limit = new AbortController();
  const onAbort = () => limit.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => limit.abort(late()), timeoutMs);
  return {
    signal: limit.signal,
    end() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}
