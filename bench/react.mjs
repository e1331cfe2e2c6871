import { orVoid } from './lib/checks.mjs';
import { runBench } from './lib/results.mjs';
import { measureAsync } from './react/async.mjs';
import { measureLayers } from './react/layers.mjs';
import { countRedisOfRuns } from './react/redis.mjs';
import { withReactSetting } from './react/setting.mjs';
import { measureSync } from './react/sync.mjs';

export const about =
  'reactors against functions without isolation (P6, P13, P15, P16) [--only P15,layers] [--quick] [--write]';

const bench = {
  name: 'react',
  heading: 'Reactors against functions without isolation',
  goals: ['P6', 'P13', 'P15', 'P16', 'layers'],
  placement:
    'The peer of P15 is a front of node:http that hands each call to one plain Node process, over kept HTTP ' +
    'connections or over the IPC of Node: no key, no definitions, no isolation, no log. The code adds two ' +
    'numbers. All processes of target and peer are on core 0: gateway, runner and sandboxes, worker; front and ' +
    'function. Load, receiver of webhooks, Postgres and Redis are on core 1. Processor time is that of all these ' +
    'processes together. The queues of P13 do nothing: pg-boss and graphile-worker on the same Postgres, under ' +
    'Node 24, BullMQ on the same Redis; pg-boss fetches and completes fifty jobs at a time. `log not written` makes all records of runs and stores none. Median [min..max] of the ' +
    'rounds. Rows without a bound are for information.',
};

/** @param {readonly string[]} args */
export const run = (args) =>
  runBench(bench, args, async ({ timing, wants }) => {
    /** @type {import('./types.js').Check[]} */
    const checks = [];
    /** @type {Record<string, unknown>} */
    const details = {};
    await withReactSetting(timing, async (setting) => {
      const sync = await measureSync(setting, wants);
      checks.push(...sync.checks);
      Object.assign(details, sync.details);
      for (const [goal, measure] of /** @type {const} */ ([
        ['layers', measureLayers],
        ['P6', countRedisOfRuns],
        ['P13', measureAsync],
      ])) {
        if (wants(goal)) checks.push(...(await orVoid(goal, '', () => measure(setting))));
      }
    });
    return { checks, details };
  });
