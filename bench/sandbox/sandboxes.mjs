import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildStaleApps } from '../../tools/build.mjs';
import { findBubblewrap } from '../../tools/lib/services/bubblewrap.mjs';
import { freePort } from '../../tools/lib/ports.mjs';
import { repoRoot } from '../../tools/lib/repo.mjs';
import { loadLibraries } from '../lib/libraries.mjs';
import { Children, untilAnswers } from '../lib/programs.mjs';

/** Echoes what it gets. A result is an object, as for every reactor. */
export const echo = 'module.exports = ({ args }) => args';

const scriptsDir = join(repoRoot, 'dist/apps/runner');

/**
 * The libraries of the runner, the settings that all runners of the bench have, and a folder.
 *
 * @param {(parts: import('../types.js').SandboxParts) => Promise<void>} work
 */
export async function withParts(work) {
  await buildStaleApps(['apps/runner']);
  const libraries = await loadLibraries('sandbox', {
    './apps/runner/src/config.ts': 'readConfig',
    './apps/runner/src/context.ts': 'createContext',
    './libs/testing/src/authority.ts': 'createAuthority',
    '@glovebox/sandbox': 'createRunnerClient, readValue, writeValue',
  });
  const bubblewrap = await findBubblewrap();
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-bench-'));
  const children = new Children();
  const env = {
    RUNNER_SECRET: randomBytes(32).toString('hex'),
    RUNNER_LISTEN: `unix:${join(folder, 'runner.sock')}`,
    RUNNER_RUNTIMES_DIR: join(repoRoot, 'apps/runner/runtimes'),
    RUNNER_NATIVE_DIR: join(repoRoot, 'apps/runner/native/prebuilt'),
    EGRESS_ALLOW: '127.0.0.1:*',
    LOG_LEVEL: 'error',
    SANDBOX_LEVEL: '2',
    SANDBOX_WARM: '2',
    // No runtime goes out of use between two turns.
    SANDBOX_IDLE_TTL_MS: '86400000',
    ...('command' in bubblewrap ? { BWRAP: bubblewrap.command } : {}),
  };
  try {
    await work({ libraries, env, folder, children });
  } finally {
    await children.endAll();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * A runner in this process, as the product makes it: its pool, and sandboxes beside the pool.
 *
 * @template Result
 * @param {import('../types.js').SandboxParts} parts
 * @param {2 | 3} level
 * @param {(sandboxes: import('../types.js').Sandboxes) => Promise<Result>} work
 */
export async function withSandboxes({ libraries, env }, level, work) {
  const config = libraries.readConfig({ ...env, SANDBOX_LEVEL: String(level) }, scriptsDir);
  const ctx = await libraries.createContext(config);
  /** The input of a runner, and what it keeps: the ends write and read the values, as the peer does. */
  const orderOf = (/** @type {Partial<import('../types.js').BenchOrder>} */ some) => {
    const { code, args, configuration, ...rest } = { ...plainRun, ...some };
    const input = Buffer.from(libraries.writeValue({ args, configuration }));
    return { code: Buffer.from(code), order: { ...rest, codeHash: code, input } };
  };
  const read = (/** @type {any} */ { value, ...outcome }) =>
    value === undefined ? outcome : { ...outcome, value: libraries.readValue(value) };
  try {
    return await work({
      level,
      nodeOf,
      counts: () => ctx.pool.counts,
      async run(some) {
        const { code, order } = orderOf(some);
        const fetchCode = () => Promise.resolve(code);
        const { signal } = new AbortController();
        return returned(read(await ctx.pool.run({ order, fetchCode, hooks, signal })));
      },
      start(runtime) {
        const sandbox = ctx.startSandbox(runtime);
        return {
          ready: sandbox.ready,
          exited: sandbox.exited,
          kill: () => sandbox.kill('the bench is done with it'),
          async run(some) {
            const { code, order } = orderOf({ runtime, ...some });
            return read(await sandbox.execute(order, sandbox.isLoaded ? undefined : code, hooks));
          },
        };
      },
    });
  } finally {
    await ctx.stop();
  }
}

/** @param {import('../types.js').Runtime} runtime */
export const nodeOf = (runtime) =>
  join(repoRoot, `apps/runner/runtimes/${runtime}/node_modules/${process.arch}/bin/node`);

/**
 * A whole runner in a process of its own, and the client that gateway and worker have.
 *
 * @param {import('../types.js').SandboxParts} parts
 * @param {string} url
 */
export async function startRunner({ libraries, env, children }, url) {
  const opsPort = await freePort();
  const child = children.start(process.execPath, [join(scriptsDir, 'main.js')], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...env, RUNNER_LISTEN: url, OPS_PORT: String(opsPort) },
  });
  await untilAnswers(child, `http://127.0.0.1:${opsPort}/health/ready`, { ok: true });
  const client = libraries.createRunnerClient({ urls: [url], secret: env.RUNNER_SECRET });
  return {
    /** @param {Partial<import('../types.js').BenchOrder>} order */
    run: async (order) => {
      const { code, ...rest } = { ...plainRun, ...order };
      return returned(await client.run({ ...rest, code, codeHash: code }, hooks));
    },
    /**
     * A run of another tenant that goes on until it is stopped.
     *
     * @param {string} code
     * @param {AbortSignal} signal
     */
    attack(code, signal) {
      /** @type {() => void} */
      let onLine = () => undefined;
      const said = new Promise((resolve) => (onLine = () => resolve(undefined)));
      const order = { ...plainRun, tenantId: 'attacker', svc: true, code, codeHash: code };
      const ended = client.run(order, { ...hooks, onLog: onLine, signal });
      const early = ended.then((/** @type {unknown} */ outcome) => {
        throw new Error(`An attack ended with ${JSON.stringify(outcome)}`);
      });
      return { begun: Promise.race([said, early]), ended };
    },
    async end() {
      await client.close();
      await children.end(child);
    },
  };
}

/** @type {import('../types.js').BenchOrder} */
const plainRun = {
  kind: 'reactor',
  tenantId: 'tenant',
  resourceId: 'reactor',
  runtime: 'node20',
  applicationId: null,
  isolation: 'warm',
  code: echo,
  args: { number: 1 },
  configuration: {},
  svc: false,
  urgency: 'sync',
  timeoutMs: 30_000,
  resultBytesMax: 1024 * 1024,
};

const hooks = { onCall: () => Promise.reject(new Error('no svc here')), onLog: () => undefined };

/**
 * One answer of another kind makes the row void.
 *
 * @param {{ kind: string, value?: any }} outcome
 */
export function returned(outcome) {
  if (outcome.kind !== 'returned') throw new Error(`A run ended with ${JSON.stringify(outcome)}`);
  return outcome.value;
}
