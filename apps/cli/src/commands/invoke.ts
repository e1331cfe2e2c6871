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
  const args = readArguments(context, options.args);
  const id = await idOf(context, name);
  const { idempotencyKey, callbackUrl } = options;
  const api = context.callerApi();
  if (!options.async) {
    const calling = api.react(id, { args }, { idempotencyKey });
    const result = await terminal.progress(`running ${name}`, calling);
    return terminal.result(result, () => plain(JSON.stringify(result, null, 2)));
  }
  if (callbackUrl === undefined) {
    throw usage(
      '--async needs --callback-url.',
      'Glovebox delivers the result there as a webhook, and shows it here as well.',
    );
  }
  const timeout = options.timeoutMs === undefined ? {} : { timeout_ms: Number(options.timeoutMs) };
  const body = { args, callback_url: callbackUrl, ...timeout };
  const run = await api.reactAsync(id, body, { idempotencyKey });
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
