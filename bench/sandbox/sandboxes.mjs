import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildStaleApps } from '../../tools/build.mjs';
import { findBubblewrap } from '../../tools/lib/bubblewrap.mjs';
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
    './apps/runner/src/sandbox/launcher.ts': 'launch, locateFiles',
    './apps/runner/src/sandbox/sandbox-process.ts': 'SandboxProcess',
    './libs/testing/src/authority.ts': 'createAuthority',
    '@glovebox/sandbox': 'createRunnerClient',
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
 * The pool of a runner in this process, as the product makes it.
 *
 * @template Result
 * @param {import('../types.js').SandboxParts} parts
 * @param {2 | 3} level
 * @param {(pool: import('../types.js').BenchPool) => Promise<Result>} work
 */
export async function withPool({ libraries, env }, level, work) {
  const config = libraries.readConfig({ ...env, SANDBOX_LEVEL: String(level) }, scriptsDir);
  const ctx = await libraries.createContext(config);
  try {
    return await work({
      level,
      counts: () => ctx.pool.counts,
      async run(order) {
        const { code, ...rest } = { ...plainRun, ...order };
        return returned(
          await ctx.pool.run({
            order: { ...rest, codeHash: code },
            fetchCode: () => Promise.resolve(code),
            hooks,
            signal: new AbortController().signal,
          }),
        );
      },
    });
  } finally {
    await ctx.stop();
  }
}

/**
 * Starts sandboxes alone, without pool and stock.
 *
 * @param {import('../types.js').SandboxParts} parts
 * @param {2 | 3} level
 * @returns {import('../types.js').SandboxStarter}
 */
export function starterOf({ libraries, env, folder }, level) {
  const config = libraries.readConfig(env, scriptsDir);
  const files = libraries.locateFiles({ ...config, workDir: folder });
  const dial = () => Promise.reject(new Error('nothing connects here'));
  return {
    nodeOf: (runtime) => files.runtimes[runtime].node,
    start(runtime) {
      const options = { files, level, limits: config.launchLimits, runtime, script: 'bootstrap' };
      const sandbox = new libraries.SandboxProcess(libraries.launch(options), {
        dial,
        errorsModules: [],
      });
      return {
        ready: sandbox.ready,
        exited: sandbox.exited,
        kill: () => sandbox.kill('the bench is done with it'),
        run: (order) => {
          const { code, ...rest } = { ...plainRun, ...order, runtime };
          const toLoad = sandbox.isLoaded ? undefined : code;
          return sandbox.execute({ ...rest, codeHash: code }, toLoad, hooks);
        },
      };
    },
  };
}

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

/** @param {{ kind: string, value?: any }} outcome */
function returned(outcome) {
  if (outcome.kind !== 'returned') throw new Error(`A run ended with ${JSON.stringify(outcome)}`);
  return outcome.value;
}
