import { freePort } from '../../tools/lib/ports.mjs';
import { startEcho } from './forks.mjs';
import { echo, nodeOf, returned, startRunner } from './sandboxes.mjs';
import { callAtOnce, callSerially, compare } from './timing.mjs';

const inFlight = 16;
const small = { number: 1 };
const tenKilobytes = { text: 'x'.repeat(10 * 1024) };

/**
 * Warm calls of the pool against a bare fork that echoes over the IPC of Node (S1 to S3), and
 * against a call in this process.
 *
 * @param {import('../types.js').SandboxSetting} setting
 */
export async function measureCalls({ sandboxes, runtime, wants, row, ...options }) {
  const peer = await startEcho(sandboxes.nodeOf(runtime));
  const alone = sandboxes.start(runtime);
  await alone.ready;
  const at = `${runtime}, level ${sandboxes.level}`;
  const call = (/** @type {unknown} */ args) => () => sandboxes.run({ runtime, args });
  const callAlone = (/** @type {unknown} */ args) => async () =>
    returned(await alone.run({ args }));
  const bare = (/** @type {unknown} */ args) => () => peer.call(args);
  try {
    for (const { goal, what, args, bounds } of [
      { goal: 'S1', what: 'warm, p50', args: small, bounds: { alone: 1.5, pool: 2 } },
      {
        goal: 'S2',
        what: 'warm, 10 KB both ways, p50',
        args: tenKilobytes,
        bounds: { alone: 1.2, pool: 1.5 },
      },
    ]) {
      if (!wants(goal)) continue;
      for (const [who, target, bound] of /** @type {const} */ ([
        ['sandbox alone', callAlone(args), bounds.alone],
        ['pool', call(args), bounds.pool],
      ])) {
        const title = `${what}, ${at}: ${who} / fork and IPC`;
        const sides = {
          target: () => callSerially(target),
          peer: () => callSerially(bare(args)),
        };
        row(goal, title, await compare(title, sides, options), ['≤', bound]);
      }
    }
    if (wants('S3')) {
      const title = `${inFlight} under way, ${at}: pool / fork and IPC`;
      const sides = {
        target: () => callAtOnce(call(small), inFlight),
        peer: () => callAtOnce(bare(small), inFlight),
      };
      const figure = 'perSecond';
      row('S3', title, await compare(title, sides, { ...options, figure }), ['≥', 0.3]);
    }
    if (wants('S1')) {
      const title = `warm, p50, ${at}: pool / a call in this process`;
      const sides = {
        target: () => callSerially(call(small)),
        peer: () => callSerially(inProcess(small)),
      };
      row('S1', title, await compare(title, sides, options));
    }
  } finally {
    alone.kill();
    await Promise.all([peer.end(), alone.exited]);
  }
}

/**
 * The wire of a whole runner: client and runner over a Unix socket, against TLS and against the fork
 * (S10).
 *
 * @param {Pick<import('../types.js').SandboxSetting, 'parts' | 'row' | 'timing' | 'details'>} setting
 */
export async function measureWire({ parts, row, ...options }) {
  const runtime = 'node20';
  const unix = await startRunner(parts, parts.env['RUNNER_LISTEN'] ?? '');
  const tls = await startRunner(parts, `tcp://127.0.0.1:${await freePort()}`);
  const peer = await startEcho(nodeOf(runtime));
  try {
    for (const [what, args] of /** @type {const} */ ([
      ['warm, p50', small],
      ['warm, 10 KB both ways, p50', tenKilobytes],
      ['warm, 1 MB both ways, p50', { text: 'x'.repeat(1024 * 1024 - 100) }],
    ])) {
      const title = `${what}: runner over TLS / over a Unix socket`;
      const sides = {
        target: () => callSerially(() => tls.run({ args })),
        peer: () => callSerially(() => unix.run({ args })),
      };
      row('S10', title, await compare(title, sides, options));
    }
    const busy = `${inFlight} under way: runner over TLS / over a Unix socket`;
    const busySides = {
      target: () => callAtOnce(() => tls.run({ args: small }), inFlight),
      peer: () => callAtOnce(() => unix.run({ args: small }), inFlight),
    };
    row('S10', busy, await compare(busy, busySides, { ...options, figure: 'perSecond' }));
    const whole = 'warm, p50: runner over a Unix socket / fork and IPC';
    const wholeSides = {
      target: () => callSerially(() => unix.run({ args: small })),
      peer: () => callSerially(() => peer.call(small)),
    };
    row('S10', whole, await compare(whole, wholeSides, options));
  } finally {
    await Promise.all([unix.end(), tls.end(), peer.end()]);
  }
}

/**
 * The same code, called where it stands.
 *
 * @param {unknown} args
 */
function inProcess(args) {
  /** @type {{ exports: any }} */
  const module = { exports: {} };
  new Function('module', echo)(module);
  return async () => module.exports({ args });
}
