import { check } from '../lib/checks.mjs';
import { bandOf } from '../lib/figures.cjs';
import { descendantsSeconds, ownProcessorSeconds, processorSeconds } from '../lib/processes.mjs';
import { callForTurn } from './calls-of-turn.mjs';
import { bodyOf, createReactor } from './setting.mjs';

/**
 * The processor time of each process that takes part in a warm call.
 *
 * @param {import('../types.js').ReactSetting} setting
 * @returns {Promise<import('../types.js').Check[]>}
 */
export async function measureLayers(setting) {
  const { dev, timing } = setting;
  const { path, headers } = await createReactor(setting);
  const site = { url: dev.baseUrl + path, headers, pids: [] };
  const body = await bodyOf(setting);
  const [gateway = 0, runner = 0] = [dev.pids['gateway'], dev.pids['runner']];
  /** @type {Readonly<Record<string, () => number>>} */
  const layers = {
    gateway: () => processorSeconds(gateway),
    runner: () => ownProcessorSeconds(runner),
    sandbox: () => descendantsSeconds(runner),
  };
  /** @type {import('../types.js').Check[]} */
  const checks = [];
  for (const connections of [1, 8]) {
    /** @type {Record<string, number[]>} */
    const costs = {};
    for (let turn = -timing.warmUpTurns; turn < timing.rounds; turn += 1) {
      const before = Object.values(layers).map((used) => used());
      const { calls } = await callForTurn(site, { connections, body });
      Object.entries(layers).forEach(([name, used], at) => {
        const microseconds = ((used() - (before[at] ?? NaN)) * 1e6) / calls;
        if (turn >= 0) (costs[name] ??= []).push(microseconds);
      });
    }
    for (const [name, all] of Object.entries(costs)) {
      const what = `processor time of a warm call, connections: ${connections}: ${name}`;
      checks.push(check('layers', what, bandOf(all), undefined, ' µs'));
    }
  }
  return checks;
}
