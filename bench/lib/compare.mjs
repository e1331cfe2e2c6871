import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';

const warmUpSeconds = 1;
const measuredSeconds = 3;
const ticksPerSecond = 100;

/** Runs on one core whatever the target does on the other: every thread of the process moves. */
export function pin(pid, core) {
  execFileSync('taskset', ['-acp', String(core), String(pid)], { stdio: 'ignore' });
}

/**
 * Loads each target once per round, in shuffled order. A target is `{name, pid, url, headers}`; its
 * figures are requests per second and per second of its own processor time.
 */
export async function compare(targets, { rounds = 5, connections = 64 } = {}) {
  for (const { pid } of targets) pin(pid, 0);
  const results = new Map(targets.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const target of shuffled(targets)) {
      await load(target, { connections, seconds: warmUpSeconds });
      const before = processorSeconds(target.pid);
      const measured = await load(target, { connections, seconds: measuredSeconds });
      const used = processorSeconds(target.pid) - before;
      results.get(target.name).push({ ...measured, perCpuSecond: measured.requests / used });
    }
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
  }
  return results;
}

/** Of each round the ratio, of the ratios the median and the ends. */
export function ratio(results, name, peer, figure = 'perCpuSecond') {
  const ratios = results
    .get(name)
    .map((result, round) => result[figure] / results.get(peer)[round][figure])
    .sort((a, b) => a - b);
  const at = (position) => ratios[position].toFixed(2);
  return `${at(Math.floor(ratios.length / 2))} [${at(0)}..${at(ratios.length - 1)}]`;
}

export function report(results) {
  const rows = [...results].map(([name, rounds]) => ({
    name,
    'k req / CPU s': (median(rounds, 'perCpuSecond') / 1000).toFixed(1),
    'req / s': Math.round(median(rounds, 'perSecond')),
    'p50 ms': median(rounds, 'p50').toFixed(2),
    'p99 ms': median(rounds, 'p99').toFixed(2),
  }));
  console.table(rows);
}

function median(rounds, figure) {
  const sorted = rounds.map((round) => round[figure]).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

async function load({ name, url, headers = {} }, { connections, seconds }) {
  const named = Object.entries(headers).flatMap(([key, value]) => ['-H', `${key}: ${value}`]);
  const wrk = ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--latency', ...named, url];
  const child = spawn('taskset', ['-c', '1', ...wrk], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (data) => (output += data));
  await once(child, 'exit');
  if (/Non-2xx|Socket errors/.test(output) || !/Requests\/sec/.test(output)) {
    throw new Error(`The run against ${name} is void:\n${output}`);
  }
  return {
    requests: Number(/(\d+) requests in/.exec(output)[1]),
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)[1]),
    p50: milliseconds(/50%\s+([\d.]+)(us|ms|s)/.exec(output)),
    p99: milliseconds(/99%\s+([\d.]+)(us|ms|s)/.exec(output)),
  };
}

function milliseconds([, number, unit]) {
  return Number(number) * { us: 0.001, ms: 1, s: 1000 }[unit];
}

/** User and system time of the process and of those that it started. */
function processorSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  const own = (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
  );
  return children.reduce((sum, child) => sum + processorSeconds(child), own);
}

function shuffled(list) {
  return list
    .map((item) => ({ item, rank: Math.random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
