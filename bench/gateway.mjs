import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { Redis } from 'ioredis';
import pg from 'pg';
import { findProgram } from './lib/programs.mjs';
import { circumstances, markdownTable, writeJson, writeSection } from './lib/results.mjs';
import { notRun } from './gateway/checks.mjs';
import { measureDefinitions } from './gateway/definitions.mjs';
import { measureLeaving } from './gateway/leaving.mjs';
import { measureLoads } from './gateway/loads.mjs';
import { measureMemory } from './gateway/memory.mjs';
import { measurePropagation } from './gateway/propagation.mjs';
import { countPostgres, countRedis } from './gateway/round-trips.mjs';
import { withSetting } from './gateway/setting.mjs';

export const about =
  'the gateway against other proxies (P1 to P12, P18, propagation) [--only P1,P2] [--quick] [--write]';

/** In this order: the last one leaves 100,000 definitions behind. */
const others = [
  ['P6', countRedis],
  ['P7', countPostgres],
  ['P10', measureLeaving],
  ['P11', measureMemory],
  ['propagation', measurePropagation],
  ['P12', measureDefinitions],
];

const goals = [
  'P1',
  'P2',
  'P3',
  'P4',
  'P5',
  'P6',
  'P7',
  'P8',
  'P9',
  'P10',
  'P11',
  'P12',
  'P18',
  'propagation',
];

const whole = {
  timing: { rounds: 5, firstWarmUpSeconds: 2, warmUpSeconds: 1, seconds: 3 },
  changes: 200,
  changesSeconds: 5,
};
const quick = {
  timing: { rounds: 2, firstWarmUpSeconds: 0, warmUpSeconds: 1, seconds: 1 },
  changes: 50,
  changesSeconds: 2,
};

export async function run(args) {
  const options = parse(args);
  const command = ['npm run bench -- gateway', ...args].join(' ');
  const wants = (goal) => options.only.includes(goal);
  const results = { ...circumstances(command, versions()), checks: [], loads: {} };
  const begunAt = performance.now();
  await withSetting(options.quick ? quick : whole, async (setting) => {
    Object.assign(results.versions, await storeVersions(setting.dev));
    const loads = await measureLoads(setting, wants);
    results.checks.push(...loads.checks);
    results.loads = loads.results;
    for (const [goal, measure] of others) {
      if (wants(goal)) results.checks.push(...(await orVoid(goal, () => measure(setting))));
    }
  });
  results.checks.sort((a, b) => goals.indexOf(a.goal) - goals.indexOf(b.goal));
  results.seconds = Math.round((performance.now() - begunAt) / 1_000);
  tell(results);
  if (options.write) console.log(`Written: ${writeSection('gateway', markdown(results))}`);
}

function parse(args) {
  const at = args.indexOf('--only');
  const only = at < 0 ? goals : (args[at + 1] ?? '').split(',');
  const rest = args.filter((_, place) => at < 0 || (place !== at && place !== at + 1));
  const unknown = [
    ...rest.filter((arg) => !['--quick', '--write'].includes(arg)),
    ...only.filter((goal) => !goals.includes(goal)),
  ];
  if (unknown.length > 0) refuse(`Unknown: ${unknown.join(', ')}. Goals: ${goals.join()}`);
  const write = rest.includes('--write');
  if (write && args.length > 1) refuse('--write keeps whole runs: no other option');
  if (availableParallelism() < 2) refuse('The target needs a core of its own: 2 cores');
  return { only, write, quick: rest.includes('--quick') };
}

function refuse(message) {
  console.error(message);
  process.exit(1);
}

/** What fails for one goal says nothing of the others. */
async function orVoid(goal, measure) {
  console.log(`\n${goal}`);
  try {
    return await measure();
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
    return [notRun(goal, goal, 'the run is void')];
  }
}

const columns = ['goal', 'what', 'reached', 'wanted', 'met'];

function tell(results) {
  console.log();
  console.table(results.checks.map((row) => Object.fromEntries(columns.map((c) => [c, row[c]]))));
  console.log(`${placement}\n${results.seconds} s. JSON: ${writeJson('gateway', results)}`);
}

const placement =
  'Target on core 0; destination, load generator, Postgres and Redis on core 1. Ratios are of requests per ' +
  "second of the target's processor time unless said; median [min..max] of the rounds.";

function markdown({ command, date, commit, machine, versions: used, checks, seconds }) {
  const listed = Object.entries(used).map(([name, version]) => `${name} ${version}`);
  return `## The gateway against other proxies

\`${command}\`, ${date}, commit ${commit}, ${seconds} s. ${machine}; ${listed.join(', ')}.

${placement}

${markdownTable(
  ['Goal', 'What', 'Reached', 'Wanted', 'Met'],
  checks.map((row) => columns.map((column) => row[column])),
)}`;
}

function versions() {
  const asked = { nginx: ['-v'], wrk: ['-v'] };
  const found = Object.entries(asked).flatMap(([name, args]) => {
    const program = findProgram(name);
    return program ? [[name, versionOf(program, args)]] : [];
  });
  return Object.fromEntries(found);
}

/** Of the servers that the product runs with, which need not be those on the path. */
async function storeVersions({ databaseUrl, redisUrl }) {
  const postgres = new pg.Client(databaseUrl);
  const redis = new Redis(redisUrl);
  try {
    await postgres.connect();
    const { rows } = await postgres.query('SHOW server_version');
    const [, version] = /redis_version:(\S+)/.exec(await redis.info('server'));
    return { Postgres: rows[0].server_version, Redis: version };
  } finally {
    await postgres.end();
    redis.disconnect();
  }
}

function versionOf(program, args) {
  // nginx tells it on the error stream, and wrk fails when asked.
  const output = execFileSync('sh', ['-c', '"$0" "$@" 2>&1 || true', program, ...args]).toString();
  return /\d+(\.\d+)+/.exec(output)?.[0] ?? 'unknown';
}
