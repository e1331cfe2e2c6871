import { execFileSync } from 'node:child_process';
import { Redis } from 'ioredis';
import pg from 'pg';
import { orVoid } from './lib/checks.mjs';
import { findProgram } from './lib/programs.mjs';
import { runBench } from './lib/results.mjs';
import { measureDefinitions } from './gateway/definitions.mjs';
import { measureIdle } from './gateway/idle.mjs';
import { measureLeaving } from './gateway/leaving.mjs';
import { measureLoads } from './gateway/loads.mjs';
import { measureMemory } from './gateway/memory.mjs';
import { measurePropagation } from './gateway/propagation.mjs';
import { countPostgres, countRedis } from './gateway/round-trips.mjs';
import { withSetting } from './gateway/setting.mjs';

export const about =
  'the gateway against other proxies (P1 to P12, P18 to P20, TLS, propagation) [--only P1,P2] [--quick] [--write]';

/**
 * The order matters: the last one leaves 100,000 definitions behind.
 *
 * @type {[goal: string, measure: (setting: import('./types.js').Setting) => Promise<import('./types.js').Check[]>][]}
 */
const others = [
  ['P19', measureIdle],
  ['P6', countRedis],
  ['P7', countPostgres],
  ['P10', measureLeaving],
  ['P11', measureMemory],
  ['propagation', measurePropagation],
  ['P12', measureDefinitions],
];

const bench = {
  name: 'gateway',
  heading: 'The gateway against other proxies',
  goals: [
    ...['P1', 'P2', 'P3', 'P4', 'P5', 'P6', 'P7', 'P8', 'P9', 'P10', 'P11', 'P12'],
    ...['P18', 'P19', 'P20'],
    ...['TLS', 'propagation', 'before'],
  ],
  placement:
    'Target on core 0; destination, load generator, Postgres and Redis on core 1. Ratios are of requests per ' +
    "second of the target's processor time unless said; median [min..max] of the rounds.",
};

const whole = { changes: 200, changesSeconds: 5, idle: { idleSeconds: 30, idleRounds: 3 } };
const quick = { changes: 50, changesSeconds: 2, idle: { idleSeconds: 10, idleRounds: 1 } };

/** @param {readonly string[]} args */
export const run = (args) =>
  runBench(bench, args, async ({ timing, wants, ...options }) => {
    /** @type {import('./types.js').Measured} */
    let measured = { checks: [], details: {} };
    /** @type {Record<string, string>} */
    const versions = programVersions();
    const sizes = options.quick ? quick : whole;
    await withSetting({ timing, ...sizes }, async (setting) => {
      Object.assign(versions, await storeVersions(setting.dev));
      measured = await measureLoads(setting, wants);
      for (const [goal, measure] of others.filter(([name]) => wants(name))) {
        measured.checks.push(...(await orVoid(goal, '', () => measure(setting))));
      }
    });
    return { ...measured, versions };
  });

function programVersions() {
  const found = ['nginx', 'wrk'].flatMap((name) => {
    const program = findProgram(name);
    return program ? [[name, versionOf(program)]] : [];
  });
  return Object.fromEntries(found);
}

/** @param {string} program */
function versionOf(program) {
  // nginx prints it to the error stream, and wrk fails when asked.
  const output = execFileSync('sh', ['-c', '"$0" -v 2>&1 || true', program]).toString();
  return /\d+(\.\d+)+/.exec(output)?.[0] ?? 'unknown';
}

/**
 * The versions of the servers of the product, which need not be those on the PATH.
 *
 * @param {import('../tools/lib/types.js').Dev} dev
 */
async function storeVersions({ databaseUrl, redisUrl }) {
  const postgres = new pg.Client(databaseUrl);
  const redis = new Redis(redisUrl);
  try {
    await postgres.connect();
    const { rows } = await postgres.query('SHOW server_version');
    const version = /redis_version:(\S+)/.exec(await redis.info('server'))?.[1];
    return { Postgres: rows[0].server_version, Redis: version };
  } finally {
    await postgres.end();
    redis.disconnect();
  }
}
