import { check, notRun } from './lib/checks.mjs';
import { endOnSignal } from './lib/product.mjs';
import { runBench } from './lib/results.mjs';
import { measureCalls, measureWire } from './sandbox/calls.mjs';
import { measureConnections } from './sandbox/connections.mjs';
import { measureIdleMemory } from './sandbox/idle-memory.mjs';
import { measureKills } from './sandbox/kills.mjs';
import { measureNeighbours } from './sandbox/neighbours.mjs';
import { withParts, withSandboxes } from './sandbox/sandboxes.mjs';
import { measureStarts } from './sandbox/starts.mjs';

export const about = 'sandboxes against bare forks (S1 to S12) [--only S1,S2] [--quick] [--write]';

const bench = {
  name: 'sandbox',
  heading: 'Sandboxes against bare forks',
  goals: ['S1', 'S2', 'S3', 'S4', 'S5', 'S6', 'S7', 'S8', 'S9', 'S10', 'S11', 'S12'],
  placement:
    'The peer is `child_process.fork` on the same Node as the sandbox, which echoes over the IPC of Node and is ' +
    'closed by nothing. `pool` is the pool of a runner in the process of the bench; `sandbox alone` is one process ' +
    'without pool and stock; `runner` is a whole runner in a process of its own, with the client that gateway and ' +
    'worker have. Turns last 0.2 s, and no process is bound to a core. Ratios are of times, where fewer are better, ' +
    'or of calls per second; median [min..max] of the rounds. Rows without a bound are for information.',
};

/** @type {readonly import('./types.js').Runtime[]} */
const runtimes = ['node16', 'node20'];
const throughLevel2 = ['S1', 'S2', 'S3', 'S4', 'S5', 'S6', 'S7', 'S8', 'S9'];
const throughLevel3 = ['S1', 'S2', 'S3', 'S4', 'S5', 'S6'];

/** @param {readonly string[]} args */
export const run = (args) =>
  runBench(bench, args, async ({ timing, wants }) => {
    endOnSignal();
    /** @type {import('./types.js').Check[]} */
    const checks = [];
    /** @type {Record<string, unknown>} */
    const details = {};
    await withParts(async (parts) => {
      const options = { parts, timing, wants, details };
      /** @type {import('./types.js').AddRow} */
      const row = (goal, what, figure, bound, unit = ' ×') =>
        void checks.push(check(goal, what, figure, bound, unit));
      if (throughLevel2.some(wants)) await measureLevel(2, runtimes, { ...options, row });
      if (throughLevel3.some(wants)) {
        /** @type {import('./types.js').AddRow} */
        const unbound = (goal, what, figure, _bound, unit) =>
          row(goal, what, figure, undefined, unit);
        const isLevel3 = 'BWRAP' in parts.env;
        if (isLevel3) await measureLevel(3, ['node20'], { ...options, row: unbound });
        else checks.push(notRun('S1', 'level 3', 'bubblewrap does not work here'));
      }
      if (wants('S10')) await measureWire({ ...options, row });
      if (wants('S11') || wants('S12')) await measureNeighbours({ ...options, row });
    });
    return { checks, details };
  });

/**
 * @param {2 | 3} level
 * @param {readonly import('./types.js').Runtime[]} ofRuntimes
 * @param {Omit<import('./types.js').SandboxSetting, 'sandboxes' | 'runtime'>} options
 */
function measureLevel(level, ofRuntimes, options) {
  const { parts, wants } = options;
  return withSandboxes(parts, level, async (sandboxes) => {
    for (const runtime of ofRuntimes) {
      const setting = { ...options, sandboxes, runtime };
      // Sandboxes are kept ready from the first order on. This one has a process of its own.
      await sandboxes.run({ runtime, isolation: 'run' });
      // First, while no process has served anything yet.
      if (wants('S6')) await measureIdleMemory(setting);
      await measureCalls(setting);
      await measureStarts(setting);
      if (level === 2 && wants('S7')) await measureKills(setting);
      if (level === 2 && (wants('S8') || wants('S9'))) await measureConnections(setting);
    }
  });
}
