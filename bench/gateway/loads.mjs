import { check, notRun, orVoid } from '../lib/checks.mjs';
import { pin } from '../lib/processes.mjs';
import { ratioOf, takeTurns, tell } from '../lib/turns.mjs';
import { loadOnce } from '../lib/wrk.mjs';
import { prepareScripts } from './bodies.mjs';
import { startTlsUpstream } from './peers.mjs';
import { openSites } from './sites.mjs';

/** @typedef {[goal: string, load: string, target: string, peer: string, bound?: import('../types.js').Bound, figure?: string]} PairRow */

const agent = 'http-proxy + agent';

/**
 * Unless stated otherwise, GETs of /small over 64 connections.
 *
 * @type {Readonly<Record<string, { connections?: number, path?: string, body?: string, isBusy?: boolean }>>}
 */
const loads = {
  'GET small': {},
  'GET small, one connection': { connections: 1 },
  // Calls under way at the end of a turn are given up with their connections: few handshakes.
  'GET small, four connections': { connections: 4 },
  'POST 1 KB': { body: '1k' },
  'POST 100 KB': { body: '100k' },
  'POST 100 KB, busy core': { body: '100k', isBusy: true },
  '1 MB down': { path: '/1m' },
  'POST, tokens: 1': { body: '1-tokens' },
  'POST, tokens: 10': { body: '10-tokens' },
  'POST, tokens: 100': { body: '100-tokens' },
  'POST, tokens: 1, 100 KB down': { body: '1-tokens', path: '/100k' },
  // One call for each sandbox: a call that waits for a sandbox does not measure the gateway.
  'POST 1 KB, two connections': { body: '1k', connections: 2 },
};

/**
 * The figure is requests per second of processor time unless another one is given. nginx is
 * compared by that alone: one core of load cannot make more requests per second.
 *
 * @type {PairRow[]}
 */
const pairs = [
  ['P1', 'GET small', 'gateway', agent, ['≥', 2.2]],
  ['P1', 'GET small', 'gateway', 'http-proxy', ['≥', 4.5]],
  ['P1', 'GET small', 'gateway', 'http-proxy in Nest', ['≥', 7]],
  ['P1', 'GET small', 'gateway', '@fastify/http-proxy', ['≥', 2.2]],
  ['P2', 'POST 1 KB', 'gateway', agent, ['≥', 2]],
  ['P2', 'POST 1 KB', 'gateway', 'undici dispatch', ['≥', 1.3]],
  ['P3', 'GET small', 'gateway', 'nginx', ['≥', 0.45]],
  ['P3', 'POST 1 KB', 'gateway', 'nginx', ['≥', 0.4]],
  ['P3', 'GET small, one connection', 'gateway', 'nginx', ['≤', 1.6], 'p50'],
  ['P4', 'POST 100 KB', 'gateway', agent, ['≥', 1.5]],
  ['P4', 'POST 100 KB, busy core', 'gateway', agent, ['≥', 1]],
  ['P5', '1 MB down', 'gateway', agent, ['≥', 1.2]],
  ['P5', '1 MB down', 'gateway', 'nginx', ['≥', 0.5]],
  ['P7', 'POST, tokens: 1', 'gateway', agent, ['≥', 1]],
  ['P7', 'POST, tokens: 10', 'gateway', agent, ['≥', 0.5]],
  ['P7', 'POST, tokens: 100', 'gateway', agent, ['≥', 0.08]],
  ['P8', 'POST 1 KB', 'detokenize off', 'gateway', ['≤', 1.03]],
  ['P8', 'POST 100 KB', 'detokenize off', 'gateway', ['≤', 1.12]],
  ['P9', 'GET small', 'access log on', 'gateway alone', ['≥', 0.85]],
  ['P9', 'GET small', 'gateway alone', 'metrics off', ['≥', 0.95]],
  ['before', 'GET small', 'gateway alone', 'gateway of BENCH_BEFORE', ['≥', 0.97]],
  ['P18', 'POST 1 KB, two connections', 'code both ways', 'gateway', ['≥', 0.4]],
  ['P18', 'POST 1 KB, two connections', 'steps', 'gateway', ['≥', 0.8]],
  ['P20', 'POST, tokens: 1, 100 KB down', 'scrub', 'gateway', ['≥', 0.9]],
  ['TLS', 'GET small, four connections', 'gateway over TLS', `${agent} over TLS`],
];

/** A few percent decide these goals: they take twice the rounds for an exact median. */
const closeGoals = ['P8', 'P9', 'P20', 'before'];

/**
 * Measures the pairs of the wanted goals, one after the other.
 *
 * @param {import('../types.js').Setting} setting
 * @param {(goal: string) => boolean} wants
 * @returns {Promise<import('../types.js').Measured>}
 */
export async function measureLoads(setting, wants) {
  const wanted = pairs.filter(([goal]) => wants(goal)).map(pairOf);
  if (wanted.length === 0) return { checks: [], details: {} };
  if (!setting.upstreamUrl) {
    const why = 'wrk or a C compiler is missing';
    return { checks: wanted.map(({ goal, what }) => notRun(goal, what, why)), details: {} };
  }
  const tlsUpstream = wants('TLS') ? await startTlsUpstream(setting) : undefined;
  const sites = openSites({ ...setting, tlsUpstream });
  const scripts = await prepareScripts(
    setting,
    wanted.map(({ load }) => load.body),
  );
  /** @type {import('../types.js').Check[]} */
  const checks = [];
  /** @type {Record<string, unknown>} */
  const details = {};
  for (const pair of wanted) {
    const measured = () => measure(pair, { setting, sites, scripts, details });
    checks.push(...(await orVoid(pair.goal, pair.what, measured)));
  }
  await sites.end();
  return { checks, details };
}

/** @param {PairRow} row */
function pairOf([goal, loadName, target, peer, bound, figure]) {
  const what = `${loadName}${figure ? `, ${figure}` : ''}: ${target} / ${peer}`;
  return { goal, what, load: loads[loadName] ?? {}, target, peer, bound, figure };
}

/**
 * @param {ReturnType<typeof pairOf>} pair
 * @param {{
 *   setting: import('../types.js').Setting,
 *   sites: ReturnType<typeof openSites>,
 *   scripts: Readonly<Record<string, string>>,
 *   details: Record<string, unknown>,
 * }} options
 */
async function measure(pair, { setting, sites, scripts, details }) {
  const { goal, what, load, bound, figure } = pair;
  const { connections = 64, path = '/small', body, isBusy = false } = load;
  const script = body === undefined ? undefined : scripts[body];
  /** @param {string} name */
  const loadTarget = async (name) => {
    const site = await sites.of(name);
    if (!site) return undefined;
    pin(site.pid, 0);
    return { ...site, name, url: site.url + path, script };
  };
  const target = await loadTarget(pair.target);
  const peer = await loadTarget(pair.peer);
  if (!target) return [notRun(goal, what, `there is no "${pair.target}"`)];
  if (!peer) return [notRun(goal, what, `there is no "${pair.peer}"`)];
  const { timing } = setting;
  const count = closeGoals.includes(goal) ? 2 * timing.rounds : timing.rounds;
  const neighbour = isBusy ? startNeighbour(setting) : undefined;
  const rounds = await takeTurns({ target, peer }, { ...timing, rounds: count }, (side) =>
    loadOnce(side, { connections }),
  );
  if (neighbour) await setting.children.end(neighbour);
  await sites.verify();
  tell(rounds, { target: pair.target, peer: pair.peer });
  details[`${goal} ${what}`] = rounds;
  return [check(goal, what, ratioOf(rounds, figure), bound, ' ×')];
}

/**
 * Copies memory without end, on the core of load and stores.
 *
 * @param {import('../types.js').Setting} setting
 */
const startNeighbour = ({ children }) =>
  children.start(process.execPath, [
    '-e',
    'const [from, to] = [1, 2].map((byte) => Buffer.alloc(64 << 20, byte)); for (;;) from.copy(to);',
  ]);
