import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { nanosecondsOf } from './figures.cjs';

const nanosecondsPerSecond = 1e9;
const kibibytesPerMebibyte = 1024;

/**
 * Binds all threads of the process and of its descendants to one core.
 *
 * @param {number} pid
 * @param {number} core
 */
export function pin(pid, core) {
  execFileSync('taskset', ['-acp', String(core), String(pid)], { stdio: 'ignore' });
  for (const child of childrenOf(pid)) pin(child, core);
}

/**
 * The processor time of the process and its descendants, those that have ended included.
 *
 * @param {number} pid
 */
export const processorSeconds = (pid) => ownProcessorSeconds(pid) + descendantsSeconds(pid);

/**
 * The processor time of all descendants that the process has or had.
 *
 * @param {number} pid
 */
export function descendantsSeconds(pid) {
  const pids = descendantsOf(pid);
  return sum([...pids.map(ownProcessorSeconds), ...[pid, ...pids].map(endedChildrenSeconds)]);
}

const ticksPerSecond = 100;

/**
 * The times that proc(5) calls cutime and cstime.
 *
 * @param {number} pid
 */
const endedChildrenSeconds = (pid) =>
  unlessEnded(0, () => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond;
  });

/**
 * The processor time of the process without its descendants.
 *
 * @param {number} pid
 */
export function ownProcessorSeconds(pid) {
  const own = tasksOf(pid).map((task) =>
    unlessEnded(0, () =>
      nanosecondsOf(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8')),
    ),
  );
  return sum(own) / nanosecondsPerSecond;
}

/**
 * The memory of the process and its descendants.
 *
 * @param {number} pid
 * @returns {number}
 */
export function residentMebibytes(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kibibytes = /VmRSS:\s+(\d+)/.exec(status)?.[1];
  return Number(kibibytes) / kibibytesPerMebibyte + sum(childrenOf(pid).map(residentMebibytes));
}

/** @param {number} pid */
const tasksOf = (pid) => unlessEnded([], () => readdirSync(`/proc/${pid}/task`));

/** @param {number} pid */
const childrenOf = (pid) =>
  tasksOf(pid).flatMap((task) =>
    unlessEnded('', () => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8'))
      .split(' ')
      .filter(Boolean)
      .map(Number),
  );

/**
 * Sandboxes and threads come and go while they are looked at.
 *
 * @template Found
 * @param {Found} ended
 * @param {() => Found} look
 */
function unlessEnded(ended, look) {
  try {
    return look();
  } catch (error) {
    const { code = '' } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code === 'ENOENT' || code === 'ESRCH') return ended;
    throw error;
  }
}

/**
 * @param {number} pid
 * @returns {number[]}
 */
export const descendantsOf = (pid) =>
  childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);

/** @param {readonly number[]} values */
const sum = (values) => values.reduce((total, value) => total + value, 0);
