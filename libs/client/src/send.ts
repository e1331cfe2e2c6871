import { GloveboxError, NoAnswer, retryAfterMs, type ProblemCode } from './errors';

/** What may be said about each call. */
export interface CallOptions {
  /** Ends the call, and the wait for its repetition. */
  readonly signal?: AbortSignal;
  /** How long the call may take with all repetitions. 60,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** How often it is repeated at most. 2 by default. */
  readonly retries?: number | undefined;
}

export interface Call extends CallOptions {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body?: RequestInit['body'] | undefined;
  readonly redirect: 'error' | 'manual';
  /** Whether it may be sent again where nobody knows what became of it. */
  readonly isRepeatable: boolean;
  /** Reads an answer that is no success. */
  readonly failureIn: (answer: Response) => Promise<GloveboxError | NoAnswer | undefined>;
}

/** Nothing was done: the call may be repeated, whatever it does. */
const notDone: ReadonlySet<ProblemCode> = new Set([
  'changed_meanwhile',
  'destination_busy',
  'newer_definition',
  'no_capacity',
  'rate_limited',
  'request_in_progress',
  'service_unavailable',
  'share_exhausted',
]);
/** Statuses of a balancer in front, whose body is no problem. */
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const firstWaitMs = 250;
const longestWaitMs = 8_000;
/** What is asked to wait for longer than this is an error at once. */
const longestRetryAfterMs = 60_000;

/** Sends a call, repeats it where that is safe, and throws what is no success. */
export async function send(fetch: typeof globalThis.fetch, call: Call): Promise<Response> {
  const { url, method, headers, body, redirect, timeoutMs = 60_000, retries = 2 } = call;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = call.signal ? AbortSignal.any([call.signal, timeout]) : timeout;
  const until = performance.now() + timeoutMs;
  let before = '';
  const ended = (): unknown =>
    call.signal?.aborted
      ? call.signal.reason
      : new NoAnswer(`No answer came within ${timeoutMs} ms.${before}`, { cause: timeout.reason });
  for (let repeated = 0; ; repeated += 1) {
    const mayRepeat = repeated < retries && !(body instanceof ReadableStream);
    let waitMs: number | undefined;
    try {
      const init = { method, headers, redirect, signal, ...(body && { body }) };
      const answer = await fetch(url, init);
      const error = await call.failureIn(answer);
      if (error === undefined) return answer;
      const isAgain = mayRepeat && mayBeSentAgain(error, answer, call);
      waitMs = isAgain ? waitFor(answer, repeated) : undefined;
      // This answer says why. Another one would come too late.
      if (waitMs === undefined || performance.now() + waitMs > until) throw error;
      before = ` The answer before was: ${error.message}`;
    } catch (error) {
      if (signal.aborted) throw ended();
      if (error instanceof GloveboxError || error instanceof NoAnswer) throw error;
      if (!mayRepeat || !call.isRepeatable) throw new NoAnswer('No answer came.', { cause: error });
      waitMs = backOff(repeated);
    }
    await pause(waitMs, signal).catch(() => Promise.reject(ended() as Error));
  }
}

function mayBeSentAgain(error: GloveboxError | NoAnswer, answer: Response, call: Call): boolean {
  if (error instanceof NoAnswer) return call.isRepeatable && passing.has(answer.status);
  // Otherwise its destination has had the call.
  return !answer.headers.has('svc-proxy-destination-status') && notDone.has(error.code);
}

function waitFor({ headers }: Response, repeated: number): number | undefined {
  const asked = retryAfterMs(headers);
  if (asked === undefined) return backOff(repeated);
  // Those that were refused together do not come back together.
  return asked > longestRetryAfterMs ? undefined : asked + Math.random() * firstWaitMs;
}

const backOff = (repeated: number): number =>
  Math.min(longestWaitMs, firstWaitMs * 2 ** repeated) * (0.5 + Math.random() / 2);

export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
  });
}
