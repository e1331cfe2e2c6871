import { once } from 'node:events';
import { end, forkOf } from './forks.mjs';
import { compare } from './timing.mjs';

/** Few enough for the frames that a run may send. */
const perRun = 20;

/** Runs in the sandbox and in the bare fork alike: the median time of a request, in milliseconds. */
const code = `
  const { Agent, get } = require('https');
  module.exports = async ({ args: { port, ca, count, keepAlive } }) => {
    const agent = new Agent({ ca, keepAlive, maxSockets: 1, maxCachedSessions: 0 });
    const request = () => new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, agent };
      get(options, (answer) => answer.resume().on('end', resolve)).on('error', reject);
    });
    if (keepAlive) await request();
    const times = [];
    for (let i = 0; i < count; i += 1) {
      const begunAt = performance.now();
      await request();
      times.push(performance.now() - begunAt);
    }
    agent.destroy();
    return { p50: times.sort((a, b) => a - b)[Math.floor(count / 2)] };
  };`;

/**
 * Requests of the code over TLS, through the broker against direct ones (S8, S9).
 *
 * @param {import('../types.js').SandboxSetting} setting
 */
export async function measureConnections({ parts, sandboxes, runtime, wants, row, ...options }) {
  const authority = parts.libraries.createAuthority();
  const site = forkOf('tls-site.cjs', process.execPath);
  site.send(authority.issue('IP:127.0.0.1'));
  const [{ port }] = await once(site, 'message');
  const peer = forkOf('open-code.cjs', sandboxes.nodeOf(runtime));
  try {
    for (const { goal, what, keepAlive, bound } of [
      { goal: 'S8', what: 'a request on a new TLS connection', keepAlive: false, bound: 2 },
      { goal: 'S9', what: 'a request on a kept TLS connection', keepAlive: true, bound: 1.2 },
    ]) {
      if (!wants(goal)) continue;
      const title = `${what}, ${runtime}, level ${sandboxes.level}: pool / direct`;
      const args = { port, ca: authority.ca, count: perRun, keepAlive };
      const sides = {
        target: () => sandboxes.run({ runtime, code, args }),
        peer: () => runDirect(peer, args),
      };
      row(goal, title, await compare(title, sides, options), ['≤', bound]);
    }
  } finally {
    await Promise.all([end(site), end(peer)]);
  }
}

/**
 * @param {import('node:child_process').ChildProcess} peer
 * @param {unknown} args
 */
async function runDirect(peer, args) {
  peer.send({ code, args });
  const [{ value, error }] = await once(peer, 'message');
  if (error) throw new Error(`A direct request failed: ${error}`);
  return value;
}
