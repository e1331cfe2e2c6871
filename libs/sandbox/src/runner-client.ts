import { createHash } from 'node:crypto';
import { parseRunnerAddress } from './address';
import { processKey, type LogLine, type RunOutcome, type RunRequest } from './run';
import { RunnerConnection } from './runner-connection';

export interface RunHooks {
  /** `svc.tokenize`, `svc.tokens.create`, …: params is the list of what the code passed. */
  onCall(method: string, params: unknown): Promise<unknown>;
  onLog?(line: LogLine): void;
  signal?: AbortSignal;
}

export interface RunnerClient {
  /** Runs once. Whatever goes wrong is an outcome; a run that has started is never started twice. */
  run(request: RunRequest, hooks: RunHooks): Promise<RunOutcome>;
  /** Whether at least one runner answers and can run code. */
  ready(): Promise<boolean>;
  close(): Promise<void>;
}

export interface RunnerClientOptions {
  /** `unix:/path` or `tcp://host:port`, one for each runner. */
  readonly urls: readonly string[];
  readonly secret: string;
  readonly connectTimeoutMs?: number;
}

const defaultConnectTimeoutMs = 2_000;
/** The first choice, and one more. */
const choicesMax = 2;

export function createRunnerClient(options: RunnerClientOptions): RunnerClient {
  const connectTimeoutMs = options.connectTimeoutMs ?? defaultConnectTimeoutMs;
  const runners = options.urls.map((url) => ({
    url,
    connection: new RunnerConnection(parseRunnerAddress(url), options.secret, connectTimeoutMs),
  }));

  return {
    async run(request, hooks) {
      const { code, ...order } = request;
      const key = processKey(order);
      const ranked = runners
        .map((runner) => ({ runner, weight: weightOf(key, runner.url) }))
        .sort((a, b) => (a.weight < b.weight ? 1 : -1));
      for (const { runner } of ranked.slice(0, choicesMax)) {
        if (hooks.signal?.aborted) return { kind: 'died', reason: 'cancelled' };
        // Not connected means not started: the next one may have it.
        if (!(await runner.connection.open())) continue;
        const outcome = await runner.connection.run(order, code, hooks);
        if (outcome.kind !== 'no_capacity') return outcome;
      }
      return { kind: 'no_capacity' };
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

/** Rendezvous hashing: a key stays with its runner whatever happens to the other runners. */
function weightOf(key: string, url: string): string {
  return createHash('sha256').update(`${url}\n${key}`).digest('hex');
}
