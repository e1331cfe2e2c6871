/** The states of a process of the pool. */
export const processStates = [
  'starting',
  'serving',
  'resting',
  'idle',
  'frozen',
  'waking',
  'ended',
  'gone',
] as const;
export type ProcessState = (typeof processStates)[number];

/** The states that may follow each state. A process of the pool changes its state in no other way. */
export const nextStates: Readonly<Record<ProcessState, readonly ProcessState[]>> = {
  /** It has its place and its memory, and nothing else yet. */
  starting: ['serving', 'ended'],
  /** It has a run. */
  serving: ['resting', 'ended'],
  /** Its run is over, and it has to show that nothing of it goes on. */
  resting: ['idle', 'ended'],
  /** It has no run, and could run at any moment. */
  idle: ['serving', 'waking', 'frozen', 'ended'],
  /** The kernel keeps it from running. It counts with the memory that it has. */
  frozen: ['waking', 'ended'],
  /** It may run again, and has to answer before it gets a run. */
  waking: ['serving', 'idle', 'ended'],
  /** It was killed. Its place is free, its memory is not. */
  ended: ['gone'],
  gone: [],
};
