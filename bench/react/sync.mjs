import pg from 'pg';
import { startGateway } from '../gateway/gateways.mjs';
import { check, orVoid } from '../lib/checks.mjs';
import { median } from '../lib/figures.cjs';
import { pin } from '../lib/processes.mjs';
import { ratioOf, takeTurns } from '../lib/turns.mjs';
import { callForTurn } from './calls-of-turn.mjs';
import { bodyOf, createReactor, startFront } from './setting.mjs';

/** @typedef {[what: string, figure: string, bound?: import('../types.js').Bound]} Row */
/** @typedef {{ site: string, tokens?: number }} Side */
/** @typedef {{ goal: string, connections: number, target: Side, peer: Side, rows: Row[] }} Pair */

export const rates = { CALL_RATE_PER_MINUTE: '10000000' };

/** @type {Row[]} */
const speeds = [
  ['calls per second', 'perSecond'],
  ['p50', 'p50'],
  ['p99', 'p99'],
  ['calls per second of processor time', 'perCpuSecond'],
];
/**
 * @param {number} perSecond
 * @param {number} p50
 * @returns {Row[]}
 */
const wantedSpeeds = (perSecond, p50) => [
  ['calls per second', 'perSecond', ['≥', perSecond]],
  ['p50', 'p50', ['≤', p50]],
  ...speeds.slice(2),
];

/** @type {Pair[]} */
const pairs = [
  ...[
    { connections: 1, wanted: wantedSpeeds(0.7, 1.5) },
    { connections: 8, wanted: wantedSpeeds(0.6, 2) },
  ].flatMap(({ connections, wanted }) => [
    pair('P15', connections, { site: 'gateway' }, { site: 'front and HTTP' }, wanted),
    pair('P15', connections, { site: 'gateway' }, { site: 'front and IPC' }, speeds),
  ]),
  ...[
    { tokens: 1, bound: 0.8 },
    { tokens: 10, bound: 0.6 },
  ].map(({ tokens, bound }) =>
    pair('P16', 8, { site: 'gateway', tokens }, { site: 'gateway' }, [
      ['calls per second', 'perSecond', ['≥', bound]],
    ]),
  ),
  pair('P15', 8, { site: 'gateway alone' }, { site: 'log not written' }, speeds.slice(3)),
  pair('P15', 8, { site: 'call rates on' }, { site: 'gateway alone' }, speeds.slice(3)),
];

/**
 * @param {string} goal
 * @param {number} connections
 * @param {Side} target
 * @param {Side} peer
 * @param {Row[]} rows
 * @returns {Pair}
 */
function pair(goal, connections, target, peer, rows) {
  return { goal, connections, target, peer, rows };
}

/**
 * Warm calls of a reactor against the peers, and against itself with tokens, log and rates (P15,
 * P16).
 *
 * @param {import('../types.js').ReactSetting} setting
 * @param {(goal: string) => boolean} wants
 * @returns {Promise<import('../types.js').Measured>}
 */
export async function measureSync(setting, wants) {
  const sites = await openSites(setting);
  /** @type {import('../types.js').Check[]} */
  const checks = [];
  /** @type {Record<string, unknown>} */
  const details = {};
  for (const each of pairs.filter(({ goal }) => wants(goal))) {
    const { goal, connections, target, peer, rows } = each;
    const of = `${nameOf(target)} / ${nameOf(peer)}, connections: ${connections}`;
    const measure = async () => {
      const load = async (/** @type {Side} */ { site, tokens }) => ({
        site: await sites.of(site),
        load: { connections, body: await bodyOf(setting, tokens) },
      });
      const sides = { target: await load(target), peer: await load(peer) };
      const rounds = await takeTurns(sides, setting.timing, (side) =>
        callForTurn(side.site, side.load),
      );
      tellBoth(rounds, nameOf(target), nameOf(peer));
      details[`${goal} ${of}`] = rounds;
      return rows.map(([what, figure, bound]) =>
        check(goal, `${what}: ${of}`, ratioOf(rounds, figure), bound, ' ×'),
      );
    };
    checks.push(...(await orVoid(goal, of, measure)));
  }
  await sites.verify();
  await sites.end();
  return { checks, details };
}

/** @param {Side} side */
const nameOf = ({ site, tokens }) => (tokens === undefined ? site : `${site}, tokens: ${tokens}`);

/**
 * @param {readonly import('../types.js').Round[]} rounds
 * @param {string} target
 * @param {string} peer
 */
function tellBoth(rounds, target, peer) {
  /** @type {['target' | 'peer', string][]} */
  const sides = [
    ['target', target],
    ['peer', peer],
  ];
  const rows = sides.map(([side, name]) => {
    /** @param {string} figure */
    const of = (figure) => median(rounds.map((round) => round[side][figure] ?? NaN));
    return {
      name,
      'per second': Math.round(of('perSecond')),
      'µs of CPU': Math.round(1e6 / of('perCpuSecond')),
      'p50 ms': of('p50').toFixed(2),
      'p99 ms': of('p99').toFixed(2),
    };
  });
  console.table(rows);
}

/**
 * Targets and peers by name, each started at its first use.
 *
 * @param {import('../types.js').ReactSetting} setting
 */
async function openSites(setting) {
  const { dev } = setting;
  const reactor = await createReactor(setting);
  /** @type {import('../types.js').BenchGateway[]} */
  const gateways = [];
  /** @param {{ url: string, pid: number }} gateway */
  const siteOf = ({ url, pid }) => ({
    url: url + reactor.path,
    headers: reactor.headers,
    pids: [pid, dev.pids['runner'] ?? 0],
  });
  /** @param {NonNullable<Parameters<typeof startGateway>[1]>} options */
  const another = async (options) => {
    const gateway = await startGateway(setting, options);
    pin(gateway.pid, 0);
    gateways.push(gateway);
    return siteOf(gateway);
  };
  /** @type {Readonly<Record<string, () => Promise<import('../types.js').ReactSite>>>} */
  const starts = {
    gateway: async () => siteOf({ url: dev.baseUrl, pid: dev.pids['gateway'] ?? 0 }),
    'gateway alone': () => another({}),
    'log not written': () => another({ preload: '../react/no-run-log.cjs' }),
    'call rates on': () => another({ env: rates }),
    'front and HTTP': () => startFront(setting, 'http'),
    'front and IPC': () => startFront(setting, 'ipc'),
  };
  /** @type {Map<string, Promise<import('../types.js').ReactSite>>} */
  const started = new Map();
  return {
    /** @param {string} name */
    of(name) {
      const site = started.get(name) ?? starts[name]?.();
      if (!site) throw new Error(`there is no "${name}"`);
      started.set(name, site);
      return site;
    },
    /** Checks that the preload still matches the statement of this version. */
    async verify() {
      const silent = await started.get('log not written');
      if (!silent) return;
      const before = await loggedRuns(dev);
      await callForTurn(silent, { connections: 1, body: await bodyOf(setting) });
      if ((await loggedRuns(dev)) !== before) throw new Error('The log was written');
    },
    end: () => Promise.all(gateways.map((gateway) => gateway.end())),
  };
}

/** @param {import('../../tools/lib/types.js').Dev} dev */
async function loggedRuns({ databaseUrl }) {
  const database = new pg.Client(databaseUrl);
  await database.connect();
  try {
    // Gateways write what they have every 250 ms: others may still have runs of earlier turns.
    await database.query('SELECT pg_sleep(1)');
    return (await database.query('SELECT count(*) FROM ended_runs')).rows[0].count;
  } finally {
    await database.end();
  }
}
