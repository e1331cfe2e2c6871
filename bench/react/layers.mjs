import { mkdtempSync, chmodSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Destination } from '../gateway/destination.mjs';
import { startGateway, startRunner } from '../gateway/gateways.mjs';
import { createProxy } from '../gateway/setting.mjs';
import { unchanged } from '../gateway/sites.mjs';
import { check } from '../lib/checks.mjs';
import { bandOf } from '../lib/figures.cjs';
import {
  descendantsSeconds,
  ownProcessorSeconds,
  pin,
  processorSeconds,
} from '../lib/processes.mjs';
import { callForTurn, open, requestOf } from './calls-of-turn.mjs';
import { bodyOf, createReactor } from './setting.mjs';

/**
 * @typedef {{ what: string, path: string, headers: import('../types.js').Headers, body?: string, connections: readonly number[] }} Load
 */

const oneKilobyte = JSON.stringify({ text: 'x'.repeat(1_000) });
const codeBothWays = { request_transform: unchanged, response_transform: unchanged };

/** Those of a warm call in the gateway; the other rows are for information. */
const wantedMicroseconds = /** @type {const} */ (['≤', 150]);
const wantedKilobytes = /** @type {const} */ (['≤', 20]);

/**
 * The processor time of each process that takes part in a call, and the bytes that each takes from
 * V8's heap for it.
 *
 * @param {import('../types.js').ReactSetting} setting
 * @returns {Promise<import('../types.js').Check[]>}
 */
export async function measureLayers(setting) {
  const destination = new Destination();
  await destination.listen();
  try {
    const loads = await loadsTo(setting, destination.url);
    return [...(await timeOf(setting, loads)), ...(await allocationOf(setting, loads))];
  } finally {
    await destination.close();
  }
}

/**
 * @param {import('../types.js').ReactSetting} setting
 * @param {string} destinationUrl
 * @returns {Promise<Load[]>}
 */
async function loadsTo(setting, destinationUrl) {
  const plain = await createProxy(setting, { destination_url: destinationUrl });
  const coded = await createProxy(setting, { destination_url: destinationUrl, ...codeBothWays });
  const reactor = await createReactor(setting);
  const [proxied, eight] = [{ path: '/proxy/small' }, { connections: [8] }];
  return [
    { what: 'a warm call', ...reactor, body: await bodyOf(setting), connections: [1, 8] },
    { what: 'a GET through a proxy', ...proxied, headers: plain.headers, ...eight },
    { what: 'a POST of 1 KB', ...proxied, headers: plain.headers, body: oneKilobyte, ...eight },
    // One call for each sandbox.
    {
      ...{ what: 'a call with code both ways', ...proxied, headers: coded.headers },
      ...{ body: oneKilobyte, connections: [2] },
    },
  ];
}

/**
 * @param {import('../types.js').ReactSetting} setting
 * @param {readonly Load[]} loads
 */
async function timeOf({ dev, timing }, loads) {
  const [gateway = 0, runner = 0] = [dev.pids['gateway'], dev.pids['runner']];
  /** @type {Readonly<Record<string, () => number>>} */
  const layers = {
    gateway: () => processorSeconds(gateway),
    runner: () => ownProcessorSeconds(runner),
    sandbox: () => descendantsSeconds(runner),
  };
  const read = () => Object.values(layers).map((used) => used() * 1e6);
  /** @type {import('../types.js').Check[]} */
  const checks = [];
  for (const load of loads) {
    for (const connections of load.connections) {
      const site = { url: dev.baseUrl + load.path, headers: load.headers, pids: [] };
      const costs = await costsOfCalls(site, { ...load, connections }, timing, read);
      for (const [at, name] of namesFor(load, Object.keys(layers)).entries()) {
        const what = `processor time of ${load.what}, connections: ${connections}: ${name}`;
        const bound = isBounded(load, name) ? wantedMicroseconds : undefined;
        checks.push(
          check('layers', what, bandOf(costs.map((all) => all[at] ?? NaN)), bound, ' µs'),
        );
      }
    }
  }
  return checks;
}

/**
 * Each in a gateway and a runner of their own, with the probe. The code tells of its sandbox.
 *
 * @param {import('../types.js').ReactSetting} setting
 * @param {readonly Load[]} loads
 */
async function allocationOf(setting, loads) {
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-bench-'));
  chmodSync(folder, 0o711);
  const runner = await startRunner(setting, folder);
  const gateway = await startGateway(setting, { env: { RUNNER_URLS: runner.url }, probe: true });
  for (const { pid } of [gateway, runner]) pin(pid, 0);
  const layers = { gateway, runner };
  const read = () =>
    Promise.all(
      Object.values(layers).map(async (layer) => (await layer.ask('allocated')).bytes / 1_000),
    );
  /** @type {import('../types.js').Check[]} */
  const checks = [];
  try {
    for (const load of loads) {
      const [connections = 1] = load.connections.slice(-1);
      const site = { url: gateway.url + load.path, headers: load.headers, pids: [] };
      let total = await read();
      const readTotal = async () =>
        (total = (await read()).map((kb, at) => kb + (total[at] ?? NaN)));
      const costs = await costsOfCalls(site, { ...load, connections }, setting.timing, readTotal);
      for (const [at, name] of namesFor(load, Object.keys(layers)).entries()) {
        const bound = isBounded(load, name) ? wantedKilobytes : undefined;
        const what = `allocated by ${load.what}: ${name}`;
        checks.push(
          check('layers', what, bandOf(costs.map((all) => all[at] ?? NaN)), bound, ' KB'),
        );
      }
    }
    const kilobytes = await allocatedInSandbox(setting, gateway.url);
    checks.push(check('layers', 'allocated by a warm call: sandbox', kilobytes, undefined, ' KB'));
  } finally {
    await gateway.end();
    await runner.end();
    rmSync(folder, { recursive: true, force: true });
  }
  return checks;
}

/** @param {Load} load @param {readonly string[]} layers */
const namesFor = ({ what }, layers) =>
  what === 'a warm call' || what.includes('code') ? layers : layers.slice(0, 1);

/** @param {Load} load @param {string} layer */
const isBounded = ({ what }, layer) => what === 'a warm call' && layer === 'gateway';

/**
 * What a call adds to each of the readings, by turn.
 *
 * @param {import('../types.js').ReactSite} site
 * @param {{ connections: number, body?: string }} load
 * @param {import('../types.js').Timing} timing
 * @param {() => number[] | Promise<number[]>} read
 */
async function costsOfCalls(site, load, { warmUpTurns, rounds }, read) {
  const costs = [];
  for (let turn = -warmUpTurns; turn < rounds; turn += 1) {
    const before = await read();
    const { calls = NaN } = await callForTurn(site, load);
    const after = await read();
    if (turn >= 0) costs.push(after.map((value, at) => (value - (before[at] ?? NaN)) / calls));
  }
  return costs;
}

/**
 * Every so many calls the code tells the size of its heap, twice: the difference is what telling
 * costs. Rounds with a collection, after which the heap is smaller, do not count.
 */
const callsOfRound = 10;
const telling = `
const used = () => process.report.getReport().javascriptHeap.usedMemory;
let calls = 0;
module.exports = async ({ args }) => {
  calls += 1;
  if (calls % ${callsOfRound} !== 0) return { raw: { sum: args.a + args.b } };
  return { raw: { before: used(), after: used() } };
};`;
const roundsInSandbox = 200;

/**
 * @param {import('../types.js').ReactSetting} setting
 * @param {string} gatewayUrl
 */
async function allocatedInSandbox(setting, gatewayUrl) {
  const { path, headers } = await createReactor(setting, telling);
  const url = new URL(gatewayUrl + path);
  const request = requestOf(url, headers, await bodyOf(setting));
  const connection = await open(url);
  const rounds = [];
  let last;
  for (let call = 1; call <= roundsInSandbox * callsOfRound; call += 1) {
    const { raw } = JSON.parse(await connection.call(request, 200));
    if (raw.before === undefined) continue;
    if (last) rounds.push((raw.before - last.after - (last.after - last.before)) / callsOfRound);
    last = raw;
  }
  connection.end();
  return bandOf(rounds.filter((bytes) => bytes > 0).map((bytes) => bytes / 1_000));
}
