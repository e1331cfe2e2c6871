/** Work that may pause wherever it yields. */
export type Work<Result> = Generator<undefined, Result, undefined>;

/** Waits until long work may begin, and returns the function that ends the turn. */
export type TakeTurn = () => Promise<() => void>;

/** Most work is done within this time, and nobody has waited for it. */
const freeMs = 2;
/** The longest that others wait for one slice. Work between two yields is not interrupted. */
const sliceMs = 5;

/** Does all the work at once. For work that is small by its own limits. */
export function atOnce<Result>(work: Work<Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Does the work in slices, between which other calls are served. Long work holds a turn. */
export async function inSlices<Result>(work: Work<Result>, takeTurn?: TakeTurn): Promise<Result> {
  return nowOrInSlices(work, takeTurn);
}

/** Does short work before it returns, and makes no promise for it. Goes on with the rest in slices. */
export function nowOrInSlices<Result>(
  work: Work<Result>,
  takeTurn?: TakeTurn,
): Result | Promise<Result> {
  const until = performance.now() + freeMs;
  do {
    const step = work.next();
    if (step.done) return step.value;
  } while (performance.now() < until);
  return goOnInSlices(work, takeTurn);
}

async function goOnInSlices<Result>(work: Work<Result>, takeTurn?: TakeTurn): Promise<Result> {
  const endTurn = await takeTurn?.();
  try {
    for (;;) {
      await nextSlice();
      const until = performance.now() + sliceMs;
      do {
        const step = work.next();
        if (step.done) return step.value;
      } while (performance.now() < until);
    }
  } finally {
    endTurn?.();
  }
}

/**
 * Lets other calls be served where the work has taken a slice. For work that awaits: call it between
 * its steps.
 */
export function pauses(): () => Promise<void> | undefined {
  let until = performance.now() + freeMs;
  const pause = async (): Promise<void> => {
    await nextSlice();
    until = performance.now() + sliceMs;
  };
  return () => (performance.now() < until ? undefined : pause());
}

const waiting: (() => void)[] = [];

/**
 * Resolves when the process has looked at its sockets, for one waiter at a time. Timers and
 * immediates alone would not do: a hundred of them run one after the other before any socket is
 * read.
 */
export function nextSlice(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(serveFirst);
  });
}

function serveFirst(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(serveFirst);
}
