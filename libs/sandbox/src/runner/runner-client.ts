import { createHash } from 'node:crypto';
import { parseRunnerAddress } from './runner-address';
import { LargeCalls } from '../large-calls';
import { socketOpener } from './open-socket';
import type { RunOutcome } from '../outcome';
import type { SpokenVersions } from '../protocol';
import { processKey, type Cancellation, type RunHooks, type RunRequest } from '../run';
import { cancelledOutcome, RunnerConnection, type ConnectionTimes } from './runner-connection';
import { parseRunnerSecret } from './runner-secret';

export interface RunnerClient {
  /** Runs once. Every failure is an outcome. A run that has started is never started again. */
  run(request: RunRequest, hooks: RunHooks): Promise<RunOutcome>;
  /** Tells whether at least one runner answers and can run code. */
  ready(): Promise<boolean>;
  close(): Promise<void>;
}

interface RunnerClientOptions extends Partial<ConnectionTimes> {
  /** One address per runner: `unix:/path`, or `tcp://host:port` for TLS. */
  readonly urls: readonly string[];
  /** In the form of RUNNER_SECRET. */
  readonly secret: string;
  /** A runner did not prove itself, or refused this side. Told once, until it works again. */
  readonly onDistrust?: (url: string, error: Error) => void;
  /** A runner speaks none of our versions. Told once, until it works again. */
  readonly onForeign?: (url: string, versions: SpokenVersions) => void;
}

const usualTimes: ConnectionTimes = {
  connectTimeoutMs: 2_000,
  heartbeatMs: 3_000,
  graceMs: 15_000,
};
/** The first choice, and one more. */
const choicesMax = 2;

export function createRunnerClient(options: RunnerClientOptions): RunnerClient {
  const times = { ...usualTimes, ...options };
  const addresses = setting('RUNNER_URLS', () => options.urls.map(parseRunnerAddress));
  const [secret] = setting('RUNNER_SECRET', () => parseRunnerSecret(options.secret, addresses));
  const largeCalls = new LargeCalls();
  const runners = options.urls.map((url) => {
    const distrust = (error: Error): void => options.onDistrust?.(url, error);
    const open = socketOpener(parseRunnerAddress(url), secret, distrust);
    const foreign = (versions: SpokenVersions): void => options.onForeign?.(url, versions);
    return { url, connection: new RunnerConnection(open, times, largeCalls, foreign) };
  });

  const runAnywhere: RunnerClient['run'] = async (request, hooks) => {
    let refused: RunOutcome & { readonly kind: 'no_capacity' } = { kind: 'no_capacity' };
    for (const { connection } of choicesFor(request, runners)) {
      const isOpen = connection.isOpen || (await unlessAborted(connection.open(), hooks.signal));
      if (hooks.signal?.aborted) return cancelledOutcome;
      // Without a connection nothing has started: the next runner may have the run.
      if (!isOpen) continue;
      const outcome = await connection.run(request, hooks);
      if (outcome.kind !== 'no_capacity') return outcome;
      refused = outcome;
    }
    return refused;
  };

  return {
    run(request, hooks) {
      const [only, other] = runners;
      // Hot path: there is nothing to choose or to wait for.
      if (only?.connection.isOpen && !other) return only.connection.run(request, hooks);
      return runAnywhere(request, hooks);
    },

    async ready() {
      const answers = await Promise.all(runners.map(({ connection }) => connection.ping()));
      return answers.includes(true);
    },

    async close() {
      await Promise.all(runners.map(({ connection }) => connection.close()));
    },
  };
}

function setting<Value>(name: string, parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    throw new Error(`${name} ${error instanceof Error ? error.message : 'is wrong'}`);
  }
}

/** Resolves to false as soon as nobody waits for the connection. */
async function unlessAborted(
  opening: Promise<boolean>,
  signal: Cancellation | undefined,
): Promise<boolean> {
  if (signal === undefined) return opening;
  if (signal.aborted) return false;
  let leave: (() => void) | undefined;
  const aborted = new Promise<false>((resolve) => {
    leave = () => resolve(false);
    signal.addEventListener('abort', leave);
  });
  try {
    return await Promise.race([opening, aborted]);
  } finally {
    if (leave !== undefined) signal.removeEventListener('abort', leave);
  }
}

/** Rendezvous hashing: a key keeps its runner whatever happens to the other runners. */
function choicesFor<Runner extends { readonly url: string }>(
  request: RunRequest,
  runners: readonly Runner[],
): readonly Runner[] {
  if (runners.length === 1) return runners;
  const key = processKey(request);
  return runners
    .map((runner) => ({ runner, weight: weightOf(key, runner.url) }))
    .sort((a, b) => (a.weight < b.weight ? 1 : -1))
    .slice(0, choicesMax)
    .map(({ runner }) => runner);
}

function weightOf(key: string, url: string): string {
  return createHash('sha256').update(`${url}\n${key}`).digest('hex');
}
