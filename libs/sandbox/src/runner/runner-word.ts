import type { JsonObject } from '../frames';
import { isWhole } from '../members';

/** The word of a runner about itself, in READY. It decides nothing. */
export interface RunnerWord {
  /** Of its process. */
  readonly id: string;
  readonly release: string;
  /** The level of isolation that its sandboxes have. */
  readonly level: number;
}

/** Undefined: the runner is of release 0.1.0, or says what nobody can show. */
export function readRunnerWord({ id, release, level }: JsonObject): RunnerWord | undefined {
  const isWord =
    typeof id === 'string' &&
    /^[\da-f-]{36}$/.test(id) &&
    typeof release === 'string' &&
    /^[\w.+-]{1,40}$/.test(release) &&
    isWhole(level, 0, 9);
  return isWord ? { id, release, level } : undefined;
}
