/** A failure that is explained to the person at the terminal, without a stack. */
export class Trouble extends Error {}

const quietMs = 1500;

/**
 * Runs one step and prints its name, result and time; a slow step is announced before it ends.
 * After `signal` is aborted it prints nothing: another step has failed, which is reported.
 *
 * @template Result
 * @param {string} label
 * @param {() => Promise<Result>} action
 * @param {AbortSignal} [signal]
 * @returns {Promise<Result>}
 */
export async function step(label, action, signal) {
  const begun = performance.now();
  /** @param {string} line */
  const say = (line) => {
    if (!signal?.aborted) console.log(line);
  };
  const slow = setTimeout(() => say(`  … ${label}`), quietMs);
  try {
    const result = await action();
    const note = typeof result === 'string' ? ` (${result})` : '';
    say(`  ✓ ${label}${note}, ${seconds(begun)}`);
    return result;
  } catch (error) {
    say(`  ✗ ${label}, ${seconds(begun)}`);
    throw error;
  } finally {
    clearTimeout(slow);
  }
}

/**
 * Works as Promise.all. The first failure also ends the waits of the others, by their signal.
 *
 * @template {readonly unknown[]} Results
 * @param {{ readonly [At in keyof Results]: (signal: AbortSignal) => Promise<Results[At]> }} starts
 * @param {AbortSignal | undefined} [outer]
 * @returns {Promise<Results>}
 */
export async function together(starts, outer) {
  const failure = new AbortController();
  const signal = outer ? AbortSignal.any([outer, failure.signal]) : failure.signal;
  try {
    const results = await Promise.all(starts.map((start) => start(signal)));
    return /** @type {Results} */ (/** @type {unknown} */ (results));
  } catch (error) {
    failure.abort();
    throw error;
  }
}

/** @param {number} begun */
export function seconds(begun) {
  return `${((performance.now() - begun) / 1000).toFixed(1)} s`;
}

/** @type {Readonly<Record<string, string>>} */
const nextSteps = {
  ENOSPC: 'The disk is full: free some, then start again.',
  EDQUOT: 'Your share of the disk is full: free some, then start again.',
  EROFS: 'The disk cannot be written: use a copy of the repository, and a GLOVEBOX_DIR, elsewhere.',
  EACCES:
    'This user may not do that: use a copy of the repository, and a GLOVEBOX_DIR, of your own.',
  EMFILE: 'Too many files are open: raise the limit (ulimit -n 4096), then start again.',
  ENOMEM: 'Memory is used up: end other programs, then start again.',
};

/** @param {unknown} error */
export function explain(error) {
  const { code = '' } = /** @type {NodeJS.ErrnoException} */ (error ?? {});
  if (error instanceof Trouble) console.error(`\n${error.message}`);
  else if (error instanceof Error && nextSteps[code]) {
    console.error(`\n${error.message}\n${nextSteps[code]}`);
  } else console.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
}

/**
 * Runs a script: `--help` prints the text, Trouble is printed in its own words with code 1.
 *
 * @param {string} help
 * @param {(args: string[]) => void | Promise<void>} main
 */
export async function script(help, main) {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    console.log(help.trim());
    return;
  }
  try {
    await main(args);
  } catch (error) {
    explain(error);
    process.exitCode = 1;
  }
}

export function requireNode(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new Trouble(
    `Glovebox needs Node 20.19 or newer; this is ${version}. Install one from https://nodejs.org/, then start again.`,
  );
}
