import { once } from 'node:events';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { pin, residentMebibytes } from '../lib/processes.mjs';
import { beginCall, statusOf } from './calls.mjs';
import { check } from '../lib/checks.mjs';
import { until } from '../lib/waiting.mjs';
import { startGateway } from './gateways.mjs';
import { createProxy } from './setting.mjs';

/** @typedef {Awaited<ReturnType<typeof memoryOf>>} Memory */

const streamBytes = 500 * 1024 * 1024;
const blockBytes = 64 * 1024;
const waiting = 1_000;
const warmUpCalls = 50;

/**
 * P11: memory of a gateway for a large stream, and for calls that wait.
 *
 * @param {import('../types.js').Setting} setting
 * @returns {Promise<import('../types.js').Check[]>}
 */
export async function measureMemory(setting) {
  const { destination } = setting;
  const { headers } = await createProxy(setting, { destination_url: destination.url });
  const rows = [];
  /** @type {[what: string, stream: typeof readLate][]} */
  const streams = [
    ['500 MB down, read a second late: RSS +', readLate],
    ['500 MB up, taken a second late: RSS +', sendAll],
  ];
  for (const [what, stream] of streams) {
    const growth = await withGateway(setting, headers, (gateway) =>
      growthDuring(gateway, () => stream(gateway.url, headers)),
    );
    rows.push(check('P11', what, growth, ['≤', 50], ' MiB'));
  }
  const { idle, busy } = await withGateway(setting, headers, (gateway) =>
    perWaitingCall(gateway, headers, destination),
  );
  /**
   * @param {string} what
   * @param {number} figure
   * @param {import('../types.js').Bound} [bound]
   */
  const row = (what, figure, bound) => check('P11', what, figure, bound, ' KiB');
  rows.push(
    row(`a call that waits, of ${waiting}: RSS +`, busy.resident, ['≤', 12]),
    row(`a call that waits, of ${waiting}: live in V8 +`, busy.live),
    row(`a connected caller, of ${waiting}: RSS +`, idle.resident),
    row(`a connected caller, of ${waiting}: live in V8 +`, idle.live),
  );
  return rows;
}

/**
 * Starts a new gateway for each figure: memory of an earlier measurement would hide it.
 *
 * @template Result
 * @param {import('../types.js').Setting} setting
 * @param {import('../types.js').Headers} headers
 * @param {(gateway: import('../types.js').BenchGateway) => Promise<Result>} work
 */
async function withGateway(setting, headers, work) {
  const gateway = await startGateway(setting, { probe: true });
  try {
    pin(gateway.pid, 0);
    await Promise.all(
      Array.from({ length: warmUpCalls }, () =>
        statusOf(beginCall(`${gateway.url}/proxy/small`, { headers })),
      ),
    );
    await gateway.ask('memory');
    return await work(gateway);
  } finally {
    await gateway.end();
  }
}

/**
 * @param {{ pid: number }} gateway
 * @param {() => Promise<void>} work
 */
async function growthDuring({ pid }, work) {
  const before = residentMebibytes(pid);
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, residentMebibytes(pid))), 10);
  try {
    await work();
  } finally {
    clearInterval(watch);
  }
  return most - before;
}

/**
 * @param {string} url
 * @param {import('../types.js').Headers} headers
 */
async function readLate(url, headers) {
  const { answered } = beginCall(`${url}/proxy/down/${streamBytes}`, { headers });
  const res = await answered;
  await sleep(1_000);
  let bytes = 0;
  for await (const chunk of res) bytes += chunk.length;
  if (bytes !== streamBytes) throw new Error(`${bytes} bytes came down`);
}

/**
 * @param {string} url
 * @param {import('../types.js').Headers} headers
 */
async function sendAll(url, headers) {
  const binary = { ...headers, 'Content-Type': 'application/octet-stream' };
  const options = { method: 'POST', headers: binary, contentLength: streamBytes };
  const { req, answered } = beginCall(`${url}/proxy/up`, options);
  const block = Buffer.alloc(blockBytes, 'x');
  for (let sent = 0; sent < streamBytes; sent += blockBytes) {
    if (!req.write(block)) await once(req, 'drain');
  }
  req.end();
  const res = await answered;
  let text = '';
  for await (const chunk of res) text += chunk;
  if (JSON.parse(text).bytes !== streamBytes) throw new Error(`the destination got ${text}`);
}

/**
 * Measures callers that are connected and idle, then the same callers waiting for their
 * destination. The second figure is the cost of a slow destination.
 *
 * @param {import('../types.js').BenchGateway} gateway
 * @param {import('../types.js').Headers} headers
 * @param {import('./destination.mjs').Destination} destination
 */
async function perWaitingCall(gateway, headers, destination) {
  const agents = Array.from({ length: waiting }, () => new Agent({ keepAlive: true }));
  /** @param {string} path */
  const begin = (path) => (/** @type {Agent} */ agent) =>
    beginCall(`${gateway.url}/proxy${path}`, { headers, agent });
  const none = await memoryOf(gateway);
  for (let at = 0; at < waiting; at += warmUpCalls) {
    const some = agents.slice(at, at + warmUpCalls);
    await Promise.all(some.map(begin('/small')).map(statusOf));
  }
  const idle = await memoryOf(gateway);
  const begun = agents.map(begin('/hang'));
  await until(() => destination.waiting === waiting, { what: 'the calls wait' });
  const busy = await memoryOf(gateway);
  destination.release();
  await Promise.all(begun.map(statusOf));
  for (const agent of agents) agent.destroy();
  return { idle: difference(idle, none), busy: difference(busy, idle) };
}

/** @param {import('../types.js').BenchGateway} gateway */
async function memoryOf(gateway) {
  const { liveBytes } = await gateway.ask('memory');
  return { live: liveBytes / 1_024, resident: residentMebibytes(gateway.pid) * 1_024 };
}

/**
 * @param {Memory} after
 * @param {Memory} before
 */
const difference = (after, before) => ({
  live: (after.live - before.live) / waiting,
  resident: (after.resident - before.resident) / waiting,
});
