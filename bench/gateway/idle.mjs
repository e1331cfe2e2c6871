import { setTimeout as sleep } from 'node:timers/promises';
import { check, notRun } from '../lib/checks.mjs';
import { bandOf, median } from '../lib/figures.cjs';
import { pin } from '../lib/processes.mjs';
import { whole } from '../lib/turns.mjs';
import { loadOnce } from '../lib/wrk.mjs';
import { startGateway, startsWith } from './gateways.mjs';
import { createProxy } from './setting.mjs';

/** @typedef {import('../types.js').BenchGateway & import('../types.js').LoadTarget & { given: boolean, ratios: number[] }} Idle */

const flag = '--no-memory-reducer';
/** Warm turns after the first second; the first second is compared with the last of them. */
const warmTurns = 6;
const comparedTurns = 3;

/**
 * P19: the cost of a call in the first second after a pause, against a warm one, for two gateways
 * that differ in one flag of V8. The bound belongs to the one that `npm start` starts.
 *
 * @param {import('../types.js').Setting} setting
 */
export async function measureIdle(setting) {
  const { idleSeconds, idleRounds } = setting.idle;
  /** @param {boolean} given */
  const whatOf = (given) =>
    `first second after ${idleSeconds} s idle / warm, ${given ? 'with' : 'without'} ${flag}`;
  const { upstreamUrl } = setting;
  if (!upstreamUrl) return [notRun('P19', whatOf(false), 'wrk or a C compiler is missing')];
  const { headers } = await createProxy(setting, { destination_url: upstreamUrl });
  /** @type {Idle[]} */
  const gateways = [];
  for (const given of [false, true]) {
    const gateway = await startGateway(setting, { flag: { name: flag, given } });
    pin(gateway.pid, 0);
    gateways.push({
      ...gateway,
      name: whatOf(given),
      given,
      url: `${gateway.url}/proxy/small`,
      headers,
      ratios: [],
    });
  }
  try {
    for (let turn = 0; turn < whole.warmUpTurns; turn += 1) await costsOf(gateways);
    for (let round = 0; round < idleRounds; round += 1) {
      await sleep(idleSeconds * 1_000);
      await oneRound(round % 2 === 0 ? gateways : gateways.toReversed());
    }
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.end()));
  }
  const asStarted = startsWith(setting, flag);
  return gateways.map(({ given, ratios }) =>
    check('P19', whatOf(given), bandOf(ratios), given === asStarted ? ['≤', 2] : undefined, ' ×'),
  );
}

/** @param {Idle[]} gateways */
async function oneRound(gateways) {
  const first = await costsOf(gateways);
  const warm = [];
  for (let turn = 0; turn < warmTurns; turn += 1) warm.push(await costsOf(gateways));
  for (const [at, { given, ratios }] of gateways.entries()) {
    const cost = first[at] ?? NaN;
    const costs = warm.map((turn) => turn[at] ?? NaN);
    ratios.push(cost / median(costs.slice(-comparedTurns)));
    const told = [cost, ...costs].map((seconds) => Math.round(seconds * 1e6));
    console.log(`${given ? 'with' : 'without'} ${flag}: ${told.join(', ')} µs a call`);
  }
}

/**
 * The processor seconds of a call, for one gateway after the other.
 *
 * @param {readonly Idle[]} gateways
 */
async function costsOf(gateways) {
  const costs = [];
  for (const gateway of gateways) costs.push(1 / (await loadOnce(gateway)).perCpuSecond);
  return costs;
}
