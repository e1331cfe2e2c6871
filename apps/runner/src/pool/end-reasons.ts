import type { UnreadOutcome } from '@glovebox/sandbox';
import type { PooledProcess } from './process-groups';

/** The reasons for which a process is not used again. */
export const endReasons = [
  'run',
  'died',
  'timed_out',
  'cancelled',
  'leftovers',
  'silent',
  'memory',
  'runs',
  'age',
  'idle',
  'evicted',
  'stopped',
] as const;
export type EndReason = (typeof endReasons)[number];

export interface RecyclingLimits {
  readonly runsMax: number;
  readonly ageMaxMs: number;
  /** Private memory after a run. */
  readonly restingBytesMax: number;
}

/** Tells why a process is ended after the outcome of its run, if so. */
export function reasonAfterRun(
  { sandbox, group }: PooledProcess,
  outcome: UnreadOutcome,
): EndReason | undefined {
  if (sandbox.isDead) {
    if (outcome.kind === 'timed_out') return 'timed_out';
    return outcome.kind === 'died' && outcome.reason === 'cancelled' ? 'cancelled' : 'died';
  }
  if (group.once || sandbox.isNarrowed) return 'run';
  if (!sandbox.isLoaded) return outcome.kind === 'died' ? 'cancelled' : 'died';
  return isMemoryFault(outcome) ? 'memory' : undefined;
}

/** Tells why a process that has answered after its run is not used again, if so. */
export function reasonAtRest(
  process: PooledProcess,
  privateBytes: number,
  limits: RecyclingLimits,
): EndReason | undefined {
  // Code may lie about its leftovers. Nothing depends on that: a process without a run is frozen.
  if (process.sandbox.hasLeftovers) return 'leftovers';
  if (process.runs >= limits.runsMax) return 'runs';
  if (performance.now() - process.startedAt >= limits.ageMaxMs) return 'age';
  return privateBytes > limits.restingBytesMax ? 'memory' : undefined;
}

/** The code got no memory and went on. Nobody knows the state that it is in. */
function isMemoryFault(outcome: UnreadOutcome): boolean {
  if (outcome.kind !== 'threw' || outcome.value.length > faultSearchedBytes) return false;
  return memoryFaults.some((text) => outcome.value.includes(text));
}

const memoryFaults = ['Array buffer allocation failed', 'ERR_MEMORY_ALLOCATION_FAILED'];
/** The thrown error itself is not read here. Those of Node.js for this are short. */
const faultSearchedBytes = 4_096;
