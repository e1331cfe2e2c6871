import { readFileSync } from 'node:fs';

const lookEveryMs = 20;
/** An answer takes a process far less than this time on a processor. */
const ranSilentlyMs = 15;
/** A process that does not run either is blocked, or the machine is very busy. */
const waitedSilentlyMs = 250;

/**
 * Watches a process that was asked, and calls `onSilent` once if it should have answered by now. It
 * is judged by the time that it ran: on a busy machine a sandbox answers late, because it comes last.
 * Returns the end of the watch.
 */
export function watchForSilence(pid: number | undefined, onSilent: () => void): () => void {
  const askedAt = performance.now();
  let ranBefore: number | undefined;
  const look = (): void => {
    const ran = ranMsOf(pid);
    ranBefore ??= ran;
    const ranNow = ran === undefined || ranBefore === undefined ? 0 : ran - ranBefore;
    const waited = performance.now() - askedAt;
    if (ranNow < ranSilentlyMs && waited < waitedSilentlyMs) return;
    clearInterval(timer);
    onSilent();
  };
  const timer = setInterval(look, lookEveryMs);
  return () => clearInterval(timer);
}

/** The time that the main thread was on a processor. Undefined where the kernel does not count it. */
function ranMsOf(pid: number | undefined): number | undefined {
  if (pid === undefined) return undefined;
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return undefined;
  }
}
