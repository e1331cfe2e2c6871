import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createRunnerClient,
  runtimes,
  type LogLine,
  type RunHooks,
  type RunnerClient,
  type RunOutcome,
  type RunRequest,
} from '@glovebox/sandbox';
import type { Logger } from '@glovebox/service-host';
import { testBubblewrap, testRuntimes } from '@glovebox/testing';
import { readConfig, type RunnerConfig } from './config';
import { createContext, type RunnerContext } from './context';
import type { WayOut } from './run/egress-connections';
import type { IsolationLevel } from './process/launcher';
import { startServer } from './serving/server';

/** A whole runner in the process of a spec, with real sandboxes and a client. */
export interface SpecRunner {
  readonly ctx: RunnerContext;
  readonly client: RunnerClient;
  /** In the form of RUNNER_URLS. */
  readonly url: string;
  readonly socketFile: string;
  run(code: string, more?: Partial<RunRequest>, hooks?: Partial<RunHooks>): Promise<RunOutcome>;
  stop(): Promise<void>;
}

export const specSecret = 'a secret of the specs that is long enough for a network';
export const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  fatal: () => undefined,
};

export function specConfig(
  folder: string,
  env: Readonly<Record<string, string>> = {},
): RunnerConfig {
  const runner = join(__dirname, '..');
  return readConfig(
    {
      RUNNER_LISTEN: `unix:${join(folder, 'runner.sock')}`,
      RUNNER_SECRET: specSecret,
      RUNNER_RUNTIMES: specRuntimes.join(),
      RUNNER_RUNTIMES_DIR: join(runner, 'runtimes'),
      RUNNER_NATIVE_DIR: join(runner, 'native/prebuilt'),
      SANDBOX_LEVEL: '2',
      BWRAP: testBubblewrap() ?? '',
      ...env,
    },
    join(runner, '../../dist/apps/runner-specs'),
  );
}

/** The runtimes of the specs, which are not all that there are. */
export const specRuntimes = runtimes.filter((runtime) => testRuntimes.includes(runtime));

/** Production uses level 2. Level 3 exists where the kernel lets every user make namespaces. */
export const specLevels: readonly IsolationLevel[] = testBubblewrap() === undefined ? [2] : [2, 3];

export async function startSpecRunner(
  env: Readonly<Record<string, string>> = {},
  dial?: WayOut['dial'],
  logger: Logger = silent,
  platform: NodeJS.Platform = process.platform,
): Promise<SpecRunner> {
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-runner-spec-'));
  const config = specConfig(folder, env);
  const ctx = await createContext(config, {
    ...{ logger, platform },
    ...(dial === undefined ? {} : { dial }),
  });
  const server = await startServer(ctx);
  const socketFile = join(folder, 'runner.sock');
  const { address } = server;
  const url = 'path' in address ? `unix:${address.path}` : `tcp://${address.host}:${address.port}`;
  const client = createRunnerClient({ urls: [url], secret: specSecret });
  return {
    ctx,
    client,
    url,
    socketFile,
    run: async (code, more, hooks) => {
      const outcome = await client.run(
        { ...plainRun, code, codeHash: hashOf(code), ...more },
        { onCall: () => Promise.reject(new Error('no svc in this spec')), ...hooks },
      );
      return withoutWait(outcome);
    },
    async stop() {
      await client.close();
      await server.close();
      await ctx.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** With two runtimes, so that the number of generic sandboxes is known. */
export async function withRunner(
  env: Readonly<Record<string, string>>,
  check: (runner: SpecRunner) => Promise<void>,
): Promise<void> {
  const runner = await startSpecRunner({ RUNNER_RUNTIMES: 'node16,node20', ...env });
  try {
    await check(runner);
  } finally {
    await runner.stop();
  }
}

export const plainRun = {
  kind: 'reactor',
  tenantId: 'tenant',
  resourceId: 'reactor',
  runtime: 'node20',
  applicationId: null,
  isolation: 'warm',
  args: {},
  configuration: {},
  svc: false,
  urgency: 'sync',
  timeoutMs: 10_000,
  resultBytesMax: 1024 * 1024,
} as const;

const hashOf = (code: string): string => createHash('sha256').update(code).digest('hex');

/** Specs compare outcomes. The time that a run waited differs each time. */
function withoutWait({ queuedMs, ...outcome }: RunOutcome): RunOutcome {
  if (queuedMs !== undefined) expect(queuedMs).toBeGreaterThanOrEqual(0);
  return outcome;
}

export function collectLines(): { lines: LogLine[]; onLog: (line: LogLine) => void } {
  const lines: LogLine[] = [];
  return { lines, onLog: (line) => lines.push(line) };
}

/**
 * Repeats a run that got no process. None waits for one longer than it may take itself, which is
 * too short for a busy machine where that is next to nothing.
 */
export async function runHoweverBusy(
  runner: SpecRunner,
  ...asked: Parameters<SpecRunner['run']>
): Promise<RunOutcome> {
  const outcome = await runner.run(...asked);
  return outcome.kind === 'no_capacity' ? runHoweverBusy(runner, ...asked) : outcome;
}

/**
 * Does the work on all items, at most `count` at once, and returns the promise of each. A test that
 * awaits its own is told of its own failure.
 */
export function fewAtOnce<Item, Result>(
  count: number,
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result>[] {
  const ends: Promise<unknown>[] = [];
  return items.map((item, n) => {
    const result = (ends[n - count] ?? Promise.resolve()).then(() => work(item));
    ends.push(result.catch(() => undefined));
    return result;
  });
}
