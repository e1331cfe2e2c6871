import { fileURLToPath } from 'node:url';
import { freePort } from '../../tools/lib/ports.mjs';
import { create, createTokens } from '../gateway/setting.mjs';
import { pin } from '../lib/processes.mjs';
import { endOnSignal, withProduct } from '../lib/product.mjs';
import { Children, untilAnswers } from '../lib/programs.mjs';

const adding = 'module.exports = async ({ args }) => ({ raw: { sum: args.a + args.b } });';

/**
 * Runs the product with gateway, worker and runner on core 0, all else on core 1.
 *
 * @param {import('../types.js').Timing} timing
 * @param {(setting: import('../types.js').ReactSetting) => Promise<void>} work
 */
export async function withReactSetting(timing, work) {
  endOnSignal();
  pin(process.pid, 1);
  const children = new Children();
  await withProduct({ EGRESS_ALLOW: '127.0.0.0/8:*' }, async (dev) => {
    for (const name of ['gateway', 'worker', 'runner']) pin(dev.pids[name] ?? 0, 0);
    try {
      await work({ dev, children, timing });
    } finally {
      await children.endAll();
    }
  });
}

/**
 * A reactor with this code, through any gateway.
 *
 * @param {Pick<import('../types.js').ReactSetting, 'dev'>} setting
 * @param {string} [code]
 */
export async function createReactor({ dev }, code = adding) {
  const name = 'bench';
  const formula = await create(
    dev,
    '/reactor-formulas',
    { type: 'private', name, code },
    dev.adminKey,
  );
  const reactor = await create(
    dev,
    '/reactors',
    { name, configuration: {}, formula: { id: formula.id } },
    dev.adminKey,
  );
  return {
    path: `/reactors/${reactor.id}/react`,
    headers: { 'SVC-API-KEY': dev.privateKey },
  };
}

/**
 * The arguments of the reactor that adds, with some tokens beside them.
 *
 * @param {Pick<import('../types.js').ReactSetting, 'dev'>} setting
 * @param {number} [tokens]
 */
export async function bodyOf(setting, tokens = 0) {
  const ids = await createTokens(setting, tokens);
  const members = ids.map((id, at) => [`token_${at}`, `{{ ${id} }}`]);
  return JSON.stringify({ args: { a: 1, b: 2, ...Object.fromEntries(members) } });
}

/**
 * The peer: a front of node:http, and behind it a plain Node process that runs the code.
 *
 * @param {import('../types.js').ReactSetting} setting
 * @param {'http' | 'ipc'} transport
 * @returns {Promise<import('../types.js').ReactSite>}
 */
export async function startFront({ children }, transport) {
  const port = await freePort();
  const program = fileURLToPath(new URL('../peers/function-front.cjs', import.meta.url));
  const child = children.start(process.execPath, [program, String(port), transport]);
  const url = `http://127.0.0.1:${port}/`;
  await untilAnswers(child, url);
  pin(child.pid ?? 0, 0);
  return { pids: [child.pid ?? 0], url, headers: {} };
}
