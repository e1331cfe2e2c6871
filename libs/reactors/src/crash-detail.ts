import type { RunOutcome } from '@glovebox/sandbox';

type Death = Extract<RunOutcome, { kind: 'died' }>;

/**
 * How a process ends for which V8 or the allocator found no memory. Under bubblewrap it is its signal
 * + 128, and that of `abort` is 139: as process 1 it does not get the signal, and then breaks off.
 */
const endsWithoutMemory = [
  ...['SIGABRT', 'SIGTRAP', 'SIGILL'],
  ...['exit 134', 'exit 133', 'exit 132', 'exit 139'],
];

/** What became of the process of a run, for its author. A reason that is ours is not shown. */
export function crashDetail({ reason, memory }: Death, what: string): string {
  if (reason.startsWith('protocol violation')) {
    return `The ${what} broke the protocol of its sandbox.`;
  }
  if (reason === 'does not read its channel') {
    return `The ${what} was sent more than it read. It must not block while answers come in.`;
  }
  if (memory === undefined) return `The process of the ${what} was ended from outside.`;
  const { runtime, megabytes } = memory;
  if (endsWithoutMemory.includes(reason)) {
    return `The ${what} used more than ${megabytes} MB of memory, or more than half of that for objects.`;
  }
  if (reason === 'SIGSYS') return `The ${what} asked the system for what no sandbox may do.`;
  return `The process of the ${what} ended (${reason}). On ${runtime} it may have ${megabytes} MB of memory.`;
}
