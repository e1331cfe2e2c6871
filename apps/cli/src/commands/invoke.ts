import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context';
import { Failure, usage } from '../failure';
import { findByName } from '../find-by-name';
import { plain } from '../terminal';

interface InvokeOptions {
  readonly args?: string;
  readonly async?: boolean;
  readonly callbackUrl?: string;
  readonly timeoutMs?: string;
  readonly idempotencyKey?: string;
}

interface Accepted {
  readonly async_request_id: string;
}

type Result =
  | { readonly status: 'pending' }
  | { readonly status: 'completed'; readonly result: unknown }
  | { readonly status: 'failed'; readonly error: unknown };

const firstWaitMs = 100;
const longestWaitMs = 2_000;

/** Calls a deployed reactor, and waits for what it returns. */
export async function invoke(context: Context, options: InvokeOptions, name: string) {
  const { terminal, signal } = context;
  const args = readArguments(context, options.args);
  const id = await idOf(context, name);
  const { idempotencyKey = randomUUID() } = options;
  const headers = { 'SVC-IDEMPOTENCY-KEY': idempotencyKey };
  const api = context.callerApi();
  const path = `/reactors/${id}/react`;
  if (!options.async) {
    const calling = api.post<unknown>(path, { args }, headers);
    const result = await terminal.progress(`running ${name}`, calling);
    return terminal.result(result, () => plain(JSON.stringify(result, null, 2)));
  }
  const { callbackUrl, timeoutMs } = options;
  if (callbackUrl === undefined) {
    throw usage(
      '--async needs --callback-url.',
      'Glovebox delivers the result there as a webhook, and shows it here as well.',
    );
  }
  const timeout = timeoutMs === undefined ? {} : { timeout_ms: Number(timeoutMs) };
  const body = { args, callback_url: callbackUrl, ...timeout };
  const accepted = await api.post<Accepted>(path, body, headers);
  const runId = accepted.async_request_id;
  terminal.say(terminal.paint('dim', `run ${runId}`));
  const wait = async (): Promise<Exclude<Result, { status: 'pending' }>> => {
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(longestWaitMs, waitMs * 1.5)) {
      const got = await api.get<Result>(`/reactors/${id}/results/${runId}`);
      if (got.status !== 'pending') return got;
      await sleep(waitMs, undefined, { signal }).catch(() => {
        throw new Failure('interrupted', `Run ${runId} goes on without you.`);
      });
    }
  };
  const ended = await terminal.progress(`waiting for run ${runId}`, wait());
  const shown = ended.status === 'completed' ? ended.result : ended.error;
  terminal.result({ run_id: runId, ...ended }, () => plain(JSON.stringify(shown, null, 2)));
  if (ended.status === 'failed') throw new Failure('failed', `Run ${runId} failed.`);
}

async function idOf(context: Context, name: string): Promise<string> {
  if (/^[\da-f-]{36}$/i.test(name)) return name;
  return (await findByName(context.api(), name, ['reactor'])).id;
}

function readArguments({ cwd }: Context, file: string | undefined): unknown {
  if (file === undefined) return {};
  try {
    const text = readFileSync(file === '-' ? 0 : resolve(cwd, file), 'utf8');
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw usage(`${file}: ${(error as Error).message}`);
  }
}
