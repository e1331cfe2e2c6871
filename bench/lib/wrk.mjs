import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { processorSeconds, residentMebibytes } from './processes.mjs';

const turnSeconds = 1;
/** @type {Readonly<Record<string, number>>} */
const millisecondsOf = { us: 0.001, ms: 1, s: 1000 };

/**
 * Loads a target for one turn: requests per second, and per second of its own processor time. An
 * answer other than 2xx or a broken connection makes the turn void.
 *
 * @param {import('../types.js').LoadTarget} target
 * @param {{ connections?: number }} options
 */
export async function loadOnce(target, { connections = 64 } = {}) {
  const { name, pid } = target;
  const before = processorSeconds(pid);
  const output = await runWrk(target, connections);
  const used = processorSeconds(pid) - before;
  const requests = Number(/(\d+) requests in/.exec(output)?.[1] ?? 0);
  if (/Non-2xx|Socket errors/.test(output) || requests === 0 || used === 0) {
    throw new Error(`A turn of ${name} is void:\n${output}`);
  }
  return {
    requests,
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]),
    perCpuSecond: requests / used,
    p50: milliseconds(/50%\s+([\d.]+)(us|ms|s)/.exec(output)),
    p99: milliseconds(/99%\s+([\d.]+)(us|ms|s)/.exec(output)),
    rss: residentMebibytes(pid),
  };
}

/**
 * @param {import('../types.js').LoadTarget} target
 * @param {number} connections
 */
async function runWrk({ url, headers = {}, script }, connections) {
  const named = Object.entries(headers).flatMap(([key, value]) => ['-H', `${key}: ${value}`]);
  const scripted = script === undefined ? [] : ['-s', script];
  const args = ['-t1', `-c${connections}`, `-d${turnSeconds}s`, '--latency', ...scripted, ...named];
  const child = spawn('taskset', ['-c', '1', 'wrk', ...args, url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (data) => (output += data));
  await once(child, 'close');
  return output;
}

/** @param {RegExpExecArray | null} match */
const milliseconds = (match) => {
  const [, number, unit = ''] = match ?? [];
  return Number(number) * (millisecondsOf[unit] ?? NaN);
};
