import { create, createTokens } from './gateway/setting.mjs';
import { check, orVoid } from './lib/checks.mjs';
import { pin } from './lib/processes.mjs';
import { endOnSignal, withProduct } from './lib/product.mjs';
import { runBench } from './lib/results.mjs';
import { ratioOf, takeTurns, tell } from './lib/turns.mjs';
import { runAll } from './react/async.mjs';
import { callForTurn, requestOf } from './react/calls-of-turn.mjs';
import { startReceiver } from './react/receiver.mjs';
import { bodyOf, createReactor } from './react/setting.mjs';

export const about =
  'pools of the usual size against larger ones (P7, P13, P14, P16) [--only P7] [--quick] [--write]';

const bench = {
  name: 'pools',
  heading: 'Pools of the usual size against larger ones',
  goals: ['P7', 'P13', 'P14', 'P16'],
  placement:
    'Two products, each with its own Postgres and Redis: one with the usual pools, its peer with ' +
    'DATABASE_CONNECTIONS=20 and SEARCH_CONNECTIONS=12. One tenant, 32 connections. All apps on core 0; load, ' +
    'receiver, Postgres and Redis on core 1. Median [min..max] of the rounds.',
};

const larger = { DATABASE_CONNECTIONS: '20', SEARCH_CONNECTIONS: '12' };
const connections = 32;
const listedTokens = 500;

/**
 * @typedef {() => Promise<import('./types.js').Figures>} Turn
 * @typedef {import('../tools/lib/types.js').Dev} Dev
 * @typedef {Awaited<ReturnType<typeof startReceiver>>} Receiver
 */

/** @type {[goal: string, what: string, prepare: (dev: Dev, receiver: Receiver) => Promise<Turn>][]} */
const loads = [
  ['P7', 'POST /proxy, tokens: 1', (dev) => proxied(dev, 1)],
  ['P7', 'POST /proxy, tokens: 100', (dev) => proxied(dev, 100)],
  ['P13', 'runs per second, accepted to delivered', delivered],
  ['P14', 'GET /reactor-formulas/{id}', formula],
  ['P14', 'POST /tokens', created],
  ['P14', 'GET /tokens', listed],
  ['P16', 'POST /reactors/{id}/react, tokens: 10', reacted],
];

/** @param {readonly string[]} args */
export const run = (args) =>
  runBench(bench, args, async ({ timing, wants }) => {
    endOnSignal();
    pin(process.pid, 1);
    /** @type {import('./types.js').Check[]} */
    const checks = [];
    /** @type {Record<string, unknown>} */
    const details = {};
    const receiver = await startReceiver();
    await withTwo(async (usual, peer) => {
      for (const [goal, what, prepare] of loads.filter(([each]) => wants(each))) {
        const measure = async () => {
          const sides = {
            target: await prepare(usual, receiver),
            peer: await prepare(peer, receiver),
          };
          const rounds = await takeTurns(sides, timing, (turn) => turn());
          tell(rounds, { target: 'usual pools', peer: 'larger pools' });
          details[what] = rounds;
          return [check(goal, what, ratioOf(rounds, 'perSecond'), undefined, ' ×')];
        };
        checks.push(...(await orVoid(goal, what, measure)));
      }
    });
    receiver.close();
    return { checks, details };
  });

/** @param {(usual: Dev, larger: Dev) => Promise<void>} work */
async function withTwo(work) {
  const allowed = { EGRESS_ALLOW: '127.0.0.0/8:*' };
  await withProduct(allowed, (usual) =>
    withProduct({ ...allowed, ...larger }, async (peer) => {
      const apps = /** @type {const} */ (['management-api', 'gateway', 'worker', 'runner']);
      for (const { pids } of [usual, peer]) for (const app of apps) pin(pids[app] ?? 0, 0);
      await work(usual, peer);
    }),
  );
}

/**
 * @param {Dev} dev
 * @param {number} tokens
 * @returns {Promise<Turn>}
 */
async function proxied(dev, tokens) {
  const destination = { name: 'bench', destination_url: `${dev.demoDestination}/echo` };
  const { key } = await create(dev, '/proxies', destination, dev.adminKey);
  const ids = await createTokens({ dev }, tokens);
  return calls(dev, '/proxy', {
    headers: { 'SVC-API-KEY': dev.privateKey, 'SVC-PROXY-KEY': key },
    body: JSON.stringify(ids.map((id) => `{{ ${id} }}`)),
  });
}

/**
 * @param {Dev} dev
 * @param {Receiver} receiver
 * @returns {Promise<Turn>}
 */
async function delivered(dev, receiver) {
  const { path, headers } = await createReactor({ dev });
  const requests = receiver.urls.map((url) =>
    requestOf(
      new URL(dev.baseUrl + path),
      headers,
      JSON.stringify({ args: { a: 1, b: 2 }, callback_url: url }),
    ),
  );
  return () => runAll(dev, requests, receiver);
}

/** @param {Dev} dev */
async function formula(dev) {
  const document = { type: 'private', name: 'bench', code: 'module.exports = () => ({})' };
  const { id } = await create(dev, '/reactor-formulas', document, dev.adminKey);
  return calls(dev, `/reactor-formulas/${id}`, { headers: { 'SVC-API-KEY': dev.adminKey } });
}

/** @param {Dev} dev */
async function created(dev) {
  return calls(dev, '/tokens', {
    headers: { 'SVC-API-KEY': dev.privateKey },
    body: JSON.stringify({ type: 'token', data: 'a secret of some length' }),
    status: 201,
  });
}

/** @param {Dev} dev */
async function listed(dev) {
  await createTokens({ dev }, listedTokens);
  return calls(dev, '/tokens', { headers: { 'SVC-API-KEY': dev.privateKey } });
}

/** @param {Dev} dev */
async function reacted(dev) {
  const { path, headers } = await createReactor({ dev });
  return calls(dev, path, { headers, body: await bodyOf({ dev }, 10) });
}

/**
 * One path of the public address under load for a turn.
 *
 * @param {Dev} dev
 * @param {string} path
 * @param {{ headers: import('./types.js').Headers, body?: string, status?: number }} request
 * @returns {Turn}
 */
function calls({ baseUrl, pids }, path, { headers, ...load }) {
  const site = { url: baseUrl + path, headers, pids: [pids.gateway ?? 0] };
  return () => callForTurn(site, { connections, ...load });
}
