import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { components, Glovebox } from '@glovebox/client';
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

const firstWaitMs = 100;
const longestWaitMs = 2_000;
/** So that a restart of Glovebox does not end the wait. */
const retriesOfWait = 10;

/** Calls a deployed reactor, and waits for what it returns. */
export async function invoke(context: Context, options: InvokeOptions, name: string) {
  const { terminal, signal } = context;
  const background = backgroundOf(options);
  const args = readArguments(context, options.args);
  const id = await idOf(context, name);
  const { idempotencyKey } = options;
  const api = context.callerApi();
  if (!background) {
    const calling = api.react(id, { args }, { idempotencyKey });
    const result = await terminal.progress(`running ${name}`, calling);
    return terminal.result(result, () => plain(JSON.stringify(result, null, 2)));
  }
  const run = await api.reactAsync(id, { args, ...background }, { idempotencyKey });
  terminal.say(terminal.paintSaid('dim', `run ${run.id}`));
  const waiting = endOf(context, api, id, run.id).catch((error: unknown) => {
    const leaves = new Failure('interrupted', `Run ${run.id} goes on without you.`);
    throw signal.aborted ? leaves : error;
  });
  const ended = await terminal.progress(`waiting for run ${run.id}`, waiting);
  const shown = ended.status === 'completed' ? ended.result : ended.error;
  terminal.result({ run_id: run.id, ...ended }, () => plain(JSON.stringify(shown, null, 2)));
  if (ended.status === 'failed') throw new Failure('failed', `Run ${run.id} failed.`);
}

/** What a run in the background is given, if it is one. */
function backgroundOf({ async: isAsync, callbackUrl, timeoutMs }: InvokeOptions) {
  if (!isAsync) {
    const given = { '--callback-url': callbackUrl, '--timeout-ms': timeoutMs };
    const [ignored] = Object.entries(given).filter(([, value]) => value !== undefined);
    if (ignored) throw usage(`${ignored[0]} needs --async.`);
    return undefined;
  }
  if (callbackUrl === undefined) {
    throw usage(
      '--async needs --callback-url.',
      'Glovebox delivers the result there as a webhook, and shows it here as well.',
    );
  }
  if (timeoutMs !== undefined && !/^[1-9]\d{0,8}$/.test(timeoutMs)) {
    throw usage('--timeout-ms is a whole number of milliseconds.', 'Like 60000.');
  }
  const timeout = timeoutMs === undefined ? {} : { timeout_ms: Number(timeoutMs) };
  return { callback_url: callbackUrl, ...timeout };
}

async function endOf({ signal }: Context, api: Glovebox, reactorId: string, runId: string) {
  const params = { path: { id: reactorId, request_id: runId } };
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(longestWaitMs, waitMs * 1.5)) {
    const path = '/reactors/{id}/results/{request_id}';
    const now = await api.get(path, { params, retries: retriesOfWait });
    if (now.status !== 'pending') return now;
    await sleep(waitMs, undefined, { signal });
  }
}

async function idOf(context: Context, name: string): Promise<string> {
  if (/^[\da-f-]{36}$/i.test(name)) return name;
  return (await findByName(context.api(), name, ['reactor'])).id;
}

type Arguments = NonNullable<components['schemas']['Invocation']['args']>;

function readArguments({ cwd }: Context, file: string | undefined): Arguments {
  if (file === undefined) return {};
  try {
    const text = readFileSync(file === '-' ? 0 : resolve(cwd, file), 'utf8');
    return JSON.parse(text) as Arguments;
  } catch (error) {
    throw usage(`${file}: ${(error as Error).message}`);
  }
}
