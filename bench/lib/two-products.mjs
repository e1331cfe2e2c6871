import { create, createTokens } from '../gateway/setting.mjs';
import { runAll } from '../react/async.mjs';
import { callForTurn, requestOf } from '../react/calls-of-turn.mjs';
import { startReceiver } from '../react/receiver.mjs';
import { bodyOf, createReactor } from '../react/setting.mjs';
import { check, orVoid } from './checks.mjs';
import { pin } from './processes.mjs';
import { endOnSignal, withProduct } from './product.mjs';
import { runBench } from './results.mjs';
import { ratioOf, takeTurns, tell } from './turns.mjs';

const connections = 32;
const listedTokens = 500;

/**
 * @typedef {() => Promise<import('../types.js').Figures>} Turn
 * @typedef {import('../../tools/lib/types.js').Dev} Dev
 * @typedef {Awaited<ReturnType<typeof startReceiver>>} Receiver
 * @typedef {[goal: string, what: string, prepare: (dev: Dev, receiver: Receiver) => Promise<Turn>]} Load
 */

/**
 * A bench of two products, each with its own Postgres and Redis, that take turns. The peer has other
 * settings.
 *
 * @param {Parameters<typeof runBench>[0]} bench
 * @param {{
 *   loads: readonly Load[],
 *   settings: Readonly<Record<string, string>>,
 *   names: { target: string, peer: string },
 *   rounds?: number,
 *   figure?: string,
 *   bound?: import('../types.js').Bound,
 * }} sides
 */
export const ofTwoProducts =
  (bench, { loads, settings, names, rounds: count, figure = 'perSecond', bound }) =>
  (/** @type {readonly string[]} */ args) =>
    runBench(bench, args, async ({ timing, wants }) => {
      endOnSignal();
      pin(process.pid, 1);
      /** @type {import('../types.js').Check[]} */
      const checks = [];
      /** @type {Record<string, unknown>} */
      const details = {};
      const receiver = await startReceiver();
      await withTwo(settings, async (usual, peer) => {
        for (const [goal, what, prepare] of loads.filter(([each]) => wants(each))) {
          const measure = async () => {
            const sides = {
              target: await prepare(usual, receiver),
              peer: await prepare(peer, receiver),
            };
            const taken = { ...timing, rounds: Math.max(timing.rounds, count ?? 0) };
            const rounds = await takeTurns(sides, taken, (turn) => turn());
            tell(rounds, names);
            details[what] = rounds;
            return [check(goal, what, ratioOf(rounds, figure), bound, ' ×')];
          };
          checks.push(...(await orVoid(goal, what, measure)));
        }
      });
      receiver.close();
      return { checks, details };
    });

/**
 * @param {Readonly<Record<string, string>>} settings of the peer
 * @param {(usual: Dev, peer: Dev) => Promise<void>} work
 */
async function withTwo(settings, work) {
  const allowed = { EGRESS_ALLOW: '127.0.0.0/8:*' };
  await withProduct(allowed, (usual) =>
    withProduct({ ...allowed, ...settings }, async (peer) => {
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
export async function proxied(dev, tokens) {
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
export async function delivered(dev, receiver) {
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
export async function formula(dev) {
  const document = { type: 'private', name: 'bench', code: 'module.exports = () => ({})' };
  const { id } = await create(dev, '/reactor-formulas', document, dev.adminKey);
  return calls(dev, `/reactor-formulas/${id}`, { headers: { 'SVC-API-KEY': dev.adminKey } });
}

/** @param {Dev} dev */
export async function created(dev) {
  return calls(dev, '/tokens', {
    headers: { 'SVC-API-KEY': dev.privateKey },
    body: JSON.stringify({ type: 'token', data: 'a secret of some length' }),
    status: 201,
  });
}

/** @param {Dev} dev */
export async function listed(dev) {
  await createTokens({ dev }, listedTokens);
  return calls(dev, '/tokens', { headers: { 'SVC-API-KEY': dev.privateKey } });
}

/**
 * @param {Dev} dev
 * @param {number} [tokens]
 */
export async function reacted(dev, tokens = 10) {
  const { path, headers } = await createReactor({ dev });
  return calls(dev, path, { headers, body: await bodyOf({ dev }, tokens) });
}

/**
 * One path of the public address under load for a turn.
 *
 * @param {Dev} dev
 * @param {string} path
 * @param {{ headers: import('../types.js').Headers, body?: string, status?: number }} request
 * @returns {Turn}
 */
function calls({ baseUrl, pids }, path, { headers, ...load }) {
  const apps = /** @type {const} */ (['gateway', 'runner', 'worker', 'management-api']);
  const site = { url: baseUrl + path, headers, pids: apps.map((app) => pids[app] ?? 0) };
  return () => callForTurn(site, { connections, ...load });
}
