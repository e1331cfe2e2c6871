/** Work that may stand still wherever it yields. */
export type Work<Result> = Generator<undefined, Result, undefined>;

/** Waits until long work may begin; gives back what ends it. */
export type TakeTurn = () => Promise<() => void>;

/** Most work is done by then, and nobody has waited for anything. */
const freeMs = 2;
/** How long others wait for one slice; what lies between two yields is done as a whole. */
const sliceMs = 5;

/** All of it at once: for work that is small by its own limits. */
export function atOnce<Result>(work: Work<Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Long work holds a turn, and stands still after each slice: other calls are served meanwhile. */
export async function inSlices<Result>(work: Work<Result>, takeTurn?: TakeTurn): Promise<Result> {
  let until = performance.now() + freeMs;
  let endTurn: (() => void) | undefined;
  try {
    for (;;) {
      const step = work.next();
      if (step.done) return step.value;
      if (performance.now() < until) continue;
      endTurn ??= await takeTurn?.();
      await nextSlice();
      until = performance.now() + sliceMs;
    }
  } finally {
    endTurn?.();
  }
}

const waiting: (() => void)[] = [];

/**
 * Resolves when the process has looked at its sockets, and for one who waits at a time. Timers and
 * immediates alone would not do: a hundred of them run one after the other, before any socket is read.
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
