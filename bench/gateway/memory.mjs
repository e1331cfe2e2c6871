import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { pin, residentMebibytes } from '../lib/compare.mjs';
import { beginCall, statusOf } from './calls.mjs';
import { check, until } from './checks.mjs';
import { startGateway } from './gateways.mjs';
import { createProxy } from './setting.mjs';

const streamBytes = 500 * 1024 * 1024;
const blockBytes = 64 * 1024;
const waiting = 1_000;
const warmUpCalls = 50;

/** P11: what a gateway takes for a large stream, and for calls that wait. */
export async function measureMemory(setting) {
  const { destination } = setting;
  const { headers } = await createProxy(setting, { destination_url: destination.url });
  const rows = [];
  for (const [what, stream] of [
    ['500 MB down, read a second late: RSS +', readLate],
    ['500 MB up, taken a second late: RSS +', sendAll],
  ]) {
    const growth = await withGateway(setting, headers, (gateway) =>
      growthDuring(gateway, () => stream(gateway.url, headers)),
    );
    rows.push(check('P11', what, growth, ['≤', 50], ' MiB'));
  }
  const { live, resident } = await withGateway(setting, headers, (gateway) =>
    perWaitingCall(gateway, headers, destination),
  );
  rows.push(check('P11', `a waiting call, of ${waiting}: RSS +`, resident, ['≤', 12], ' KiB'));
  rows.push(check('P11', `a waiting call, of ${waiting}: live in V8 +`, live, undefined, ' KiB'));
  return rows;
}

/** A gateway of its own for each figure: what an earlier one left behind would hide it. */
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

async function readLate(url, headers) {
  const { answered } = beginCall(`${url}/proxy/down/${streamBytes}`, { headers });
  const res = await answered;
  await sleep(1_000);
  let bytes = 0;
  for await (const chunk of res) bytes += chunk.length;
  if (bytes !== streamBytes) throw new Error(`${bytes} bytes came down`);
}

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

async function perWaitingCall(gateway, headers, destination) {
  const [live, resident] = [
    (await gateway.ask('memory')).liveBytes,
    residentMebibytes(gateway.pid),
  ];
  const url = `${gateway.url}/proxy/hang`;
  const begun = Array.from({ length: waiting }, () => beginCall(url, { headers }));
  await until(() => destination.waiting === waiting, { what: 'the calls wait' });
  const after = (await gateway.ask('memory')).liveBytes;
  const residentAfter = residentMebibytes(gateway.pid);
  destination.release();
  await Promise.all(begun.map(statusOf));
  return {
    live: (after - live) / waiting / 1_024,
    resident: ((residentAfter - resident) * 1_024) / waiting,
  };
}
