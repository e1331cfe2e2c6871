import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../tools/lib/ports.mjs';
import { check, notRun, orVoid } from './lib/checks.mjs';
import { pin } from './lib/processes.mjs';
import { findProgram } from './lib/programs.mjs';
import { runBench } from './lib/results.mjs';
import { ratioOf, takeTurns, tell } from './lib/turns.mjs';
import { loadOnce } from './lib/wrk.mjs';
import { askOnce } from './forward/ask.mjs';
import { startIntercepting } from './forward/peers.mjs';
import { create, withSetting } from './gateway/setting.mjs';

export const about =
  'forward mode against /proxy and against intercepting proxies (F1, F2) [--only F1] [--quick] [--write]';

const bench = {
  name: 'forward',
  heading: 'Forward mode',
  goals: ['F1', 'F2'],
  placement:
    'Target on core 0; destination, load, Postgres and Redis on core 1. F1 is loaded by wrk over 8 connections, for which a ' +
    'program in C opens tunnels; F2 by a client in Node.js. Ratios are of requests (F2: of connections with one request each) ' +
    "per second of the target's processor time; median [min..max] of the rounds.",
};

const host = 'bench.example';
/** wrk asks TLS for the host of its URL. */
const hostOfLoad = '127.0.0.1';
/**
 * Over few connections, whose handshakes cost next to nothing.
 *
 * @param {import('./types.js').LoadTarget} side
 */
const warm = (side) => loadOnce(side, { connections: 8 });
const peers = ['mockttp', 'http-mitm-proxy'];
const opener = fileURLToPath(new URL('forward/opener.c', import.meta.url));

/** @param {readonly string[]} args */
export const run = (args) =>
  runBench(bench, args, async ({ timing, wants }) => {
    /** @type {import('./types.js').Check[]} */
    const checks = [];
    /** @type {Record<string, unknown>} */
    const details = {};
    /**
     * @template {{ name: string, pid: number }} Side
     * @param {string} goal
     * @param {string} what
     * @param {{ target: Side, peer: Side }} sides
     * @param {(side: Side) => Promise<import('./types.js').Figures>} turn
     * @param {import('./types.js').Bound} bound
     */
    const compare = async (goal, what, sides, turn, bound) => {
      const { target, peer } = sides;
      for (const { pid } of [target, peer]) pin(pid, 0);
      const rounds = await takeTurns(sides, timing, turn);
      tell(rounds, { target: target.name, peer: peer.name });
      details[`${goal} ${what}`] = rounds;
      return [check(goal, what, ratioOf(rounds), bound, ' ×')];
    };
    const sizes = { changes: 0, changesSeconds: 0, idle: { idleSeconds: 0, idleRounds: 0 } };
    await withSetting({ timing, ...sizes }, async (setting) => {
      const { forward, proxy } = await prepare(setting);
      if (wants('F1')) {
        const what = 'GET small in open tunnels / GET small at /proxy in plain HTTP';
        checks.push(
          ...(await orVoid('F1', what, async () => {
            const target = await openTunnels(setting, forward);
            return compare('F1', what, { target, peer: proxy }, warm, ['≥', 0.8]);
          })),
        );
      }
      for (const name of wants('F2') ? peers : []) {
        const what = `CONNECT, handshake and one request: forward mode / ${name}`;
        checks.push(
          ...(await orVoid('F2', what, async () => {
            const peer = await startIntercepting(setting, name, host);
            if (!peer) return [notRun('F2', what, 'npm ci --prefix bench/peers/intercepting')];
            return compare('F2', what, { target: forward, peer }, askOnce, ['≥', 3]);
          })),
        );
      }
    });
    return { checks, details };
  });

/** @param {import('./types.js').Setting} setting */
async function prepare(setting) {
  const { dev, upstreamUrl } = setting;
  if (!upstreamUrl) throw new Error('wrk or a C compiler is missing');
  const document = {
    name: 'bench',
    destination_url: upstreamUrl,
    match: { hosts: [host, hostOfLoad] },
  };
  const { key } = await create(dev, '/proxies', document, dev.adminKey);
  const headers = { 'SVC-API-KEY': dev.adminKey };
  const answer = await fetch(`${dev.managementUrl}/tenants/self/forward-ca`, { headers });
  const { certificates } = /** @type {{ certificates: string }} */ (await answer.json());
  const caFile = join(setting.folder, 'forward-ca.pem');
  writeFileSync(caFile, certificates);
  const pid = dev.pids.gateway ?? 0;
  const authorization = `Bearer ${dev.privateKey}`;
  return {
    forward: { name: 'forward mode', pid, proxyUrl: dev.forwardUrl, host, authorization, caFile },
    proxy: {
      ...{ name: '/proxy', pid, url: `${dev.baseUrl}/proxy/small` },
      headers: { 'SVC-API-KEY': dev.privateKey, 'SVC-PROXY-KEY': key },
    },
  };
}

/**
 * Starts the program that opens a tunnel for each connection.
 *
 * @param {import('./types.js').Setting} setting
 * @param {import('./types.js').Intercepting} forward
 * @returns {Promise<import('./types.js').LoadTarget>}
 */
async function openTunnels({ children, folder }, { name, pid, proxyUrl, authorization }) {
  const program = join(folder, 'opener');
  const compiler = findProgram('cc') ?? findProgram('gcc') ?? 'cc';
  execFileSync(compiler, ['-O2', '-pthread', '-o', program, opener]);
  const port = await freePort();
  const head = [`CONNECT ${hostOfLoad}:443 HTTP/1.1`, `Host: ${hostOfLoad}:443`];
  const lines = [...head, `Proxy-Authorization: ${authorization}`, '', ''].join('\r\n');
  children.start(program, [String(port), new URL(proxyUrl).port, lines]);
  return { name, pid, url: `https://${hostOfLoad}:${port}/small`, headers: { Host: hostOfLoad } };
}
