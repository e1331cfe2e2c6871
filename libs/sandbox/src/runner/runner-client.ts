import { createHash } from 'node:crypto';
import { KnownRunners, type ResolveName } from './known-runners';
import { parseRunnerAddress } from './runner-address';
import { LargeCalls } from '../large-calls';
import { socketOpener } from './open-socket';
import type { RunOutcome } from '../outcome';
import type { SpokenVersions } from '../protocol';
import { processKey, type Cancellation, type RunHooks, type RunRequest } from '../run';
import { cancelledOutcome, RunnerConnection, type ConnectionTimes } from './runner-connection';
import type { RunnerWord } from './runner-word';
import { parseRunnerSecret } from './runner-secret';

export interface RunnerClient {
  /** Runs once. Every failure is an outcome. A run that has started is never started again. */
  run(request: RunRequest, hooks: RunHooks): Promise<RunOutcome>;
  /** Tells whether at least one runner answers and can run code. */
  ready(): Promise<boolean>;
  /** What the runners say of themselves that this side is connected to. */
  words(): readonly RunnerWord[];
  close(): Promise<void>;
}

interface RunnerClientOptions extends Partial<ConnectionTimes> {
  /** `unix:/path`, or `tcp://host:port` for TLS. A host may be the name of several runners. */
  readonly urls: readonly string[];
  /** Asked for the hosts that are names, every `refreshMs`. */
  readonly resolve?: ResolveName;
  readonly refreshMs?: number;
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
const usualRefreshMs = 5_000;
/** The first choice, and one more. */
const choicesMax = 2;

export function createRunnerClient(options: RunnerClientOptions): RunnerClient {
  const times = { ...usualTimes, ...options };
  const addresses = setting('RUNNER_URLS', () => options.urls.map(parseRunnerAddress));
  const [secret] = setting('RUNNER_SECRET', () => parseRunnerSecret(options.secret, addresses));
  const largeCalls = new LargeCalls();
  const { urls, resolve = noNames, refreshMs = usualRefreshMs } = options;
  const runners = new KnownRunners(urls, refreshMs, resolve, (url) => {
    const distrust = (error: Error): void => options.onDistrust?.(url, error);
    const open = socketOpener(parseRunnerAddress(url), secret, distrust);
    const foreign = (versions: SpokenVersions): void => options.onForeign?.(url, versions);
    return new RunnerConnection(open, times, largeCalls, foreign);
  });

  const runAnywhere: RunnerClient['run'] = async (request, hooks) => {
    let refused: RunOutcome & { readonly kind: 'no_capacity' } = { kind: 'no_capacity' };
    const known = await runners.afterFirstAnswers();
    for (const { connection } of choicesFor(request, known)) {
      const isAnyOpen = known.some((runner) => runner.connection.isOpen);
      const open = () => (isAnyOpen ? connection.open() : connection.openSoon());
      const isOpen = connection.isOpen || (await unlessAborted(open(), hooks.signal));
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
      const [only, other] = runners.now;
      // Hot path: there is nothing to choose or to wait for.
      if (only?.connection.isOpen && !other) return only.connection.run(request, hooks);
      return runAnywhere(request, hooks);
    },

    async ready() {
      const known = await runners.afterFirstAnswers();
      const answers = await Promise.all(known.map(({ connection }) => connection.ping()));
      return answers.includes(true);
    },

    words: () => runners.now.flatMap(({ connection }) => connection.word ?? []),

    close: () => runners.close(),
  };
}

const noNames: ResolveName = () => Promise.reject(new Error('names are not looked up here'));

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

/**
 * Rendezvous hashing: a key keeps its runner whatever happens to the other runners. Those without
 * a connection come last, as they may be gone.
 */
function choicesFor(request: RunRequest, runners: KnownRunners['now']): KnownRunners['now'] {
  if (runners.length < 2) return runners;
  const key = processKey(request);
  const ranked = runners
    .map((runner) => ({ runner, weight: weightOf(key, runner.url) }))
    .sort((a, b) => (a.weight < b.weight ? 1 : -1))
    .map(({ runner }) => runner);
  const open = ranked.filter(({ connection }) => connection.isOpen);
  const others = ranked.filter(({ connection }) => !connection.isOpen);
  return [...open, ...others].slice(0, choicesMax);
}

function weightOf(key: string, url: string): string {
  return createHash('sha256').update(`${url}\n${key}`).digest('hex');
}
