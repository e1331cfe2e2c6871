import type { RunOrder } from '@glovebox/sandbox';
import { plainRun } from '../spec-runner';
import { PooledProcess, ProcessGroups } from './process-groups';
import { processStates, type ProcessState } from './process-states';

/** Each state with a way to it. */
const ways: Readonly<Record<ProcessState, readonly ProcessState[]>> = {
  starting: [],
  serving: ['serving'],
  resting: ['serving', 'resting'],
  idle: ['serving', 'resting', 'idle'],
  frozen: ['serving', 'resting', 'idle', 'frozen'],
  waking: ['serving', 'resting', 'idle', 'frozen', 'waking'],
  ended: ['ended'],
  gone: ['ended', 'gone'],
};

const allowed = new Set([
  'starting, then serving',
  'starting, then ended',
  'serving, then resting',
  'serving, then ended',
  'resting, then idle',
  'resting, then ended',
  'idle, then serving',
  'idle, then waking',
  'idle, then frozen',
  'idle, then ended',
  'frozen, then waking',
  'frozen, then ended',
  'waking, then serving',
  'waking, then idle',
  'waking, then ended',
  'ended, then gone',
]);

const pairs = processStates.flatMap((from) => processStates.map((to) => ({ from, to })));

function processThatIs(state: ProcessState): PooledProcess {
  const order: RunOrder = { ...plainRun, network: true, codeHash: '', input: Buffer.alloc(0) };
  const process = new PooledProcess(new ProcessGroups().groupFor(order));
  for (const next of ways[state]) process.become(next);
  return process;
}

const isAllowed = ({ from, to }: (typeof pairs)[number]): boolean =>
  allowed.has(`${from}, then ${to}`);

it.each(pairs.filter(isAllowed))('a process that is $from may become $to', ({ from, to }) => {
  const process = processThatIs(from);
  process.become(to);
  expect(process.state).toBe(to);
});

it.each(pairs.filter((pair) => !isAllowed(pair)))(
  'a process that is $from stays so, and does not become $to',
  ({ from, to }) => {
    const process = processThatIs(from);
    expect(() => process.become(to)).toThrow(`${from} does not become ${to}`);
    expect(process.state).toBe(from);
  },
);

it('a process of no allowed pair is left out', () => {
  expect(pairs.filter(isAllowed)).toHaveLength(allowed.size);
  expect(pairs).toHaveLength(64);
});
