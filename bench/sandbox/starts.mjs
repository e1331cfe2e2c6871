import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../lib/waiting.mjs';
import { timeOfFirstWord } from './forks.mjs';
import { returned } from './sandboxes.mjs';
import { compare, medianOf } from './timing.mjs';

const startsPerTurn = 3;
/**
 * Two of each runtime in use are kept ready. Node 16 is in use from the start, and measured first.
 *
 * @param {import('../types.js').Runtime} runtime
 */
const genericCount = (runtime) => (runtime === 'node16' ? 2 : 4);
/** For a process that ended to be gone, and the new ones to be at rest. */
const calmMs = 20;

/**
 * The first answer of a new sandbox, and of one that stood ready, against the first word of a bare
 * fork (S4, S5).
 *
 * @param {import('../types.js').SandboxSetting} setting
 */
export async function measureStarts({ sandboxes, runtime, wants, row, ...options }) {
  const at = `${runtime}, level ${sandboxes.level}`;
  const node = sandboxes.nodeOf(runtime);
  const peer = () => medianOf(startsPerTurn, () => timeOfFirstWord(node));
  if (wants('S4')) {
    const title = `cold, ${at}: sandbox alone / first word of a fork`;
    const target = () => medianOf(startsPerTurn, () => coldRun(sandboxes, runtime));
    row('S4', title, await compare(title, { target, peer }, options), ['≤', 2]);
  }
  if (wants('S5')) {
    const title = `on a generic process that stands ready, ${at}: pool / first word of a fork`;
    const target = () => medianOf(startsPerTurn, () => hit(sandboxes, runtime));
    row('S5', title, await compare(title, { target, peer }, options), ['≤', 0.2]);
  }
}

/**
 * @param {import('../types.js').Sandboxes} sandboxes
 * @param {import('../types.js').Runtime} runtime
 */
async function coldRun(sandboxes, runtime) {
  const begunAt = performance.now();
  const sandbox = sandboxes.start(runtime);
  await sandbox.ready;
  returned(await sandbox.run({}));
  const took = performance.now() - begunAt;
  sandbox.kill();
  await sandbox.exited;
  return took;
}

/**
 * @param {import('../types.js').Sandboxes} sandboxes
 * @param {import('../types.js').Runtime} runtime
 */
async function hit(sandboxes, runtime) {
  await until(() => sandboxes.counts().generic >= genericCount(runtime), {
    what: 'sandboxes in stock',
  });
  await sleep(calmMs);
  const begunAt = performance.now();
  // Such a run has a process of its own, which ends with it.
  await sandboxes.run({ runtime, isolation: 'run' });
  return performance.now() - begunAt;
}
