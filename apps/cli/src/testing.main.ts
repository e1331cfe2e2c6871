import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { testSocket } from './config';
import type { Asked, Told } from './testing-protocol';

interface Options {
  readonly configuration?: Readonly<Record<string, string>>;
  readonly network?: boolean;
}

interface Message {
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: unknown;
  readonly [member: string]: unknown;
}

/** What code of a test ended with, as the caller of a reactor or proxy would get it. */
export class CodeError extends Error {
  override readonly name = 'CodeError';
  readonly code: string;
  readonly status: number;
  readonly errors: unknown;
  readonly lines: unknown;

  constructor({ error, lines }: Told['outcome']) {
    const { message, title = 'The code failed.', place, errors } = error ?? {};
    const at = place ? ` (${place.file}:${place.line}:${place.column})` : '';
    super(`${message ?? title}${at}`);
    this.code = error?.code ?? 'unknown';
    this.status = error?.status ?? 500;
    this.errors = errors;
    this.lines = lines;
  }
}

/** Runs reactors/SLUG in the sandbox of Glovebox. */
export function reactor(slug: string, options: Options = {}) {
  return async (args: unknown = {}) => {
    const outcome = await ask({ kind: 'reactor', slug, trial: { ...options, args } });
    const { result, lines, duration_ms: durationMs } = outcome;
    return { result, lines, durationMs };
  };
}

/** Takes a request, and an answer if one is given, through proxies/SLUG. Nothing leaves. */
export function transform(slug: string, options: Pick<Options, 'configuration'> = {}) {
  return async ({ request, answer }: { request?: Message; answer?: Message } = {}) => {
    const trial = {
      ...options,
      ...(request && { request: written(request) }),
      ...(answer && { answer: written(answer) }),
    };
    const outcome = await ask({ kind: 'proxy', slug, trial });
    const { lines, duration_ms: durationMs } = outcome;
    return { request: outcome.request, answer: outcome.answer, lines, durationMs };
  };
}

/** A body that is no text is sent as JSON. */
function written({ body, headers = {}, ...others }: Message): Message {
  if (body === undefined || typeof body === 'string') {
    return { ...others, headers, ...(body === undefined ? {} : { body }) };
  }
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
  const typed = hasType ? headers : { ...headers, 'content-type': 'application/json' };
  return { ...others, headers: typed, body: JSON.stringify(body) };
}

/** `glovebox test` has the key, bundles, and asks Glovebox. The process of the test has nothing. */
async function ask(asked: Asked): Promise<Told['outcome']> {
  const socketPath = testSocket();
  if (!socketPath) throw new Error('Run tests with `glovebox test`: it reaches the sandbox.');
  const answer = await new Promise<string>((resolve, reject) => {
    httpRequest({ socketPath, method: 'POST', path: '/' }, (incoming) => {
      text(incoming).then(resolve, reject);
    })
      .on('error', reject)
      .end(JSON.stringify(asked));
  });
  const told = JSON.parse(answer) as Told | { readonly failure: string };
  if ('failure' in told) throw new Error(told.failure);
  if (told.outcome.status === 'failed') throw new CodeError(told.outcome);
  return told.outcome;
}
