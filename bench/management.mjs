import { fileURLToPath } from 'node:url';
import { freePort } from '../tools/lib/ports.mjs';
import { check } from './lib/checks.mjs';
import { pin } from './lib/processes.mjs';
import { endOnSignal, withProduct } from './lib/product.mjs';
import { Children, untilAnswers } from './lib/programs.mjs';
import { runBench } from './lib/results.mjs';
import { ratioOf, takeTurns, tell } from './lib/turns.mjs';
import { loadOnce } from './lib/wrk.mjs';

export const about = 'the management API against a bare Nest (P14) [--quick] [--write]';

const bench = {
  name: 'management',
  heading: 'The management API against a bare Nest',
  goals: ['P14'],
  placement:
    'The peer is Nest on Express that answers the same document and does nothing else: no key, no permission, ' +
    'no validation, no metrics. Target on core 0; load generator, Postgres and Redis on core 1. Ratios are of ' +
    "requests per second of the target's processor time; median [min..max] of the rounds.",
};

/** @param {readonly string[]} args */
export const run = (args) =>
  runBench(bench, args, async ({ timing }) => {
    endOnSignal();
    pin(process.pid, 1);
    const children = new Children();
    /** @type {import('./types.js').Check[]} */
    const checks = [];
    /** @type {Record<string, unknown>} */
    const details = {};
    await withProduct({}, async (dev) => {
      try {
        const formula = `/reactor-formulas/${await createFormula(dev)}`;
        /** @type {[what: string, path: string, bound: import('./types.js').Bound][]} */
        const loads = [
          ['GET /permissions, without the database', '/permissions', ['≥', 0.8]],
          ['GET /reactor-formulas/{id}, under row-level security', formula, ['≥', 0.35]],
        ];
        for (const [what, path, bound] of loads) {
          console.log(`\n${what}`);
          const rounds = await measure(dev, path, { timing, children });
          details[what] = rounds;
          checks.push(check('P14', what, ratioOf(rounds), bound, ' ×'));
        }
      } finally {
        await children.endAll();
      }
    });
    return { checks, details };
  });

/**
 * @param {import('../tools/lib/types.js').Dev} dev
 * @param {string} path
 * @param {{ timing: import('./types.js').Timing, children: Children }} options
 */
async function measure({ managementUrl, adminKey, pids }, path, { timing, children }) {
  const name = 'management API';
  const headers = { 'SVC-API-KEY': adminKey };
  const target = { name, pid: pids['management-api'] ?? 0, url: managementUrl + path, headers };
  const document = await (await fetch(target.url, { headers })).text();
  const peer = await startBareNest(children, document);
  pin(target.pid, 0);
  pin(peer.pid, 0);
  const rounds = await takeTurns({ target, peer }, timing, (each) => loadOnce(each));
  tell(rounds, { target: name, peer: peer.name });
  return rounds;
}

/**
 * Starts a Nest app without our code, which answers the same bytes.
 *
 * @param {Children} children
 * @param {string} document
 */
async function startBareNest(children, document) {
  const port = await freePort();
  const program = fileURLToPath(new URL('./peers/bare-nest.cjs', import.meta.url));
  const child = children.start(process.execPath, [program, String(port), document]);
  const url = `http://127.0.0.1:${port}/answer`;
  await untilAnswers(child, url, { ok: true });
  return { name: 'bare Nest', pid: child.pid ?? 0, url };
}

/**
 * @param {import('../tools/lib/types.js').Dev} dev
 * @returns {Promise<string>}
 */
async function createFormula({ managementUrl, adminKey }) {
  const answer = await fetch(`${managementUrl}/reactor-formulas`, {
    method: 'POST',
    headers: { 'SVC-API-KEY': adminKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'bench', code: 'module.exports = () => ({})' }),
  });
  return /** @type {{ id: string }} */ (await answer.json()).id;
}
