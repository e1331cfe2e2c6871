import { connect } from 'node:net';
import { percentile } from '../lib/figures.cjs';
import { processorSeconds } from '../lib/processes.mjs';

const turnMs = 1_000;
const headEnd = '\r\n\r\n';
const lastChunk = `\r\n0${headEnd}`;

/**
 * Calls a site over some connections for one turn, each connection one call after the other. Every
 * call is waited for: a runner ends the sandbox of a caller that leaves. An answer of another status
 * makes the turn void.
 *
 * @param {import('../types.js').ReactSite} site
 * @param {{ connections: number, body?: string, status?: number }} load a GET without a body
 */
export async function callForTurn({ url, headers, pids }, { connections, body, status = 200 }) {
  const request = requestOf(new URL(url), headers, body);
  /** @type {number[]} */
  const times = [];
  const before = usedBy(pids);
  const begunAt = performance.now();
  const call = async () => {
    const connection = await open(new URL(url));
    for (let at = begunAt; at < begunAt + turnMs;) {
      const sentAt = performance.now();
      await connection.call(request, status);
      at = performance.now();
      times.push(at - sentAt);
    }
    connection.end();
  };
  await Promise.all(Array.from({ length: connections }, call));
  const seconds = (performance.now() - begunAt) / 1_000;
  const used = usedBy(pids) - before;
  return {
    perSecond: times.length / seconds,
    perCpuSecond: times.length / used,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    calls: times.length,
  };
}

/** @param {readonly number[]} pids */
const usedBy = (pids) => pids.reduce((seconds, pid) => seconds + processorSeconds(pid), 0);

/**
 * The bytes of a POST, or of a GET without a body.
 *
 * @param {URL} url
 * @param {import('../types.js').Headers} headers
 * @param {string} [body]
 */
export function requestOf({ host, pathname }, headers, body) {
  if (body === undefined) return headOf(`GET ${pathname}`, { host, ...headers });
  const length = `${Buffer.byteLength(body)}`;
  const framing = { 'content-type': 'application/json', 'content-length': length };
  return headOf(`POST ${pathname}`, { host, ...headers, ...framing }) + body;
}

/**
 * @param {string} target
 * @param {import('../types.js').Headers} headers
 */
function headOf(target, headers) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${target} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/**
 * A kept connection, which costs the core of the load less than one of node:http.
 *
 * @param {URL} url
 */
export async function open({ hostname, port }) {
  const socket = connect(Number(port), hostname).setNoDelay(true).setEncoding('latin1');
  /** @type {((answer: Error | string) => void) | undefined} */
  let settle;
  let received = '';
  socket.on('data', (/** @type {string} */ text) => {
    received += text;
    if (!isWhole(received)) return;
    const answer = received;
    received = '';
    settle?.(answer);
  });
  socket.on('error', (error) => settle?.(error));
  socket.on('close', () => settle?.(new Error('The connection broke')));
  return {
    /**
     * @param {string} request
     * @param {number} status
     * @returns {Promise<string>} the body of the answer, in chunks if it came in chunks
     */
    call: (request, status) =>
      new Promise((resolve, reject) => {
        settle = (answer) => {
          if (typeof answer !== 'string') reject(answer);
          else if (!answer.startsWith(`HTTP/1.1 ${status} `)) reject(new Error(answer));
          else resolve(answer.slice(answer.indexOf(headEnd) + headEnd.length));
        };
        socket.write(request);
      }),
    end() {
      settle = undefined;
      socket.destroy();
    },
  };
}

/** @param {string} received */
function isWhole(received) {
  const end = received.indexOf(headEnd);
  if (end < 0) return false;
  const head = received.slice(0, end + 2);
  // The bodies of the benches hold no such line.
  if (/\r\ntransfer-encoding: chunked\r/i.test(head)) return received.endsWith(lastChunk);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  return received.length >= end + headEnd.length + Number(length);
}
