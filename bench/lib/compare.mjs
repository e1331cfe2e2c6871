import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';

const ticksPerSecond = 100;
const kibibytesPerMebibyte = 1024;

/** Runs on one core whatever the target does on the other: every thread of the process moves. */
export function pin(pid, core) {
  execFileSync('taskset', ['-acp', String(core), String(pid)], { stdio: 'ignore' });
}

/**
 * Loads each target once per round, in shuffled order. A target is `{name, pid, url, headers, script}`
 * (the script is one of wrk); its figures are requests per second and per second of its own processor time.
 */
export async function compare(
  targets,
  { rounds = 5, connections = 64, firstWarmUpSeconds = 0, warmUpSeconds = 1, seconds = 3 } = {},
) {
  for (const { pid } of targets) pin(pid, 0);
  if (firstWarmUpSeconds > 0) {
    for (const target of targets) await load(target, { connections, seconds: firstWarmUpSeconds });
  }
  const results = new Map(targets.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const target of shuffled(targets)) {
      await load(target, { connections, seconds: warmUpSeconds });
      const before = processorSeconds(target.pid);
      const measured = await load(target, { connections, seconds });
      const used = processorSeconds(target.pid) - before;
      if (measured.requests === 0 || used === 0) {
        throw new Error(`The run against ${target.name} is void: it served nothing`);
      }
      results.get(target.name).push({
        ...measured,
        perCpuSecond: measured.requests / used,
        rss: residentMebibytes(target.pid),
      });
    }
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
  }
  return results;
}

/** Of each round the ratio, of the ratios the median and the ends. */
export function ratios(results, name, peer, figure = 'perCpuSecond') {
  const sorted = results
    .get(name)
    .map((result, round) => result[figure] / results.get(peer)[round][figure])
    .sort((a, b) => a - b);
  return { median: middle(sorted), min: sorted[0], max: sorted.at(-1) };
}

export function ratio(results, name, peer, figure) {
  const { median, min, max } = ratios(results, name, peer, figure);
  return `${median.toFixed(2)} [${min.toFixed(2)}..${max.toFixed(2)}]`;
}

export function report(results) {
  const rows = [...results].map(([name, rounds]) => ({
    name,
    'k req / CPU s': (median(rounds, 'perCpuSecond') / 1000).toFixed(1),
    'req / s': Math.round(median(rounds, 'perSecond')),
    'p50 ms': median(rounds, 'p50').toFixed(2),
    'p99 ms': median(rounds, 'p99').toFixed(2),
    'RSS MiB': Math.round(median(rounds, 'rss')),
  }));
  console.table(rows);
}

function median(rounds, figure) {
  return middle(rounds.map((round) => round[figure]).sort((a, b) => a - b));
}

function middle(sorted) {
  const half = sorted.length / 2;
  return (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]) / 2;
}

export async function load({ name, url, headers = {}, script }, { connections, seconds }) {
  const named = Object.entries(headers).flatMap(([key, value]) => ['-H', `${key}: ${value}`]);
  const scripted = script === undefined ? [] : ['-s', script];
  const load = [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--latency',
    ...scripted,
    ...named,
    url,
  ];
  const child = spawn('taskset', ['-c', '1', 'wrk', ...load], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
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
  return childrenOf(pid).reduce((sum, child) => sum + processorSeconds(child), own);
}

/** Of the process and of those that it started. */
export function residentMebibytes(pid) {
  const [, kibibytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  const own = Number(kibibytes) / kibibytesPerMebibyte;
  return childrenOf(pid).reduce((sum, child) => sum + residentMebibytes(child), own);
}

function childrenOf(pid) {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
  );
}

function shuffled(list) {
  return list
    .map((item) => ({ item, rank: Math.random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
