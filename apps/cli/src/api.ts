import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from './failure';

/** An error as Glovebox answers it. */
export interface Problem {
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly detail?: string;
  readonly errors?: Readonly<Record<string, readonly string[]>>;
  readonly [more: string]: unknown;
}

export class ApiProblem extends Failure {
  constructor(
    readonly problem: Problem,
    readonly traceId: string | undefined,
  ) {
    const { code, title, detail } = problem;
    super(exitOf(problem), `${detail ?? title} (${code})`, hintOf(problem), { ...problem });
  }
}

const timeoutMs = 60_000;
const repeatsMax = 5;
const longestWaitSeconds = 10;

/** Calls of one key. */
export class Api {
  constructor(
    readonly url: string,
    private readonly key: string | undefined,
    private readonly signal: AbortSignal,
  ) {}

  get<Answer>(path: string, query: Readonly<Record<string, string | undefined>> = {}) {
    const given = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
    const search = new URLSearchParams(given).toString();
    return this.call<Answer>('GET', search === '' ? path : `${path}?${search}`);
  }

  post<Answer>(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    return this.call<Answer>('POST', path, body, headers);
  }

  async call<Answer>(
    method: string,
    path: string,
    body?: unknown,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const headers = {
      ...(this.key === undefined ? {} : { 'SVC-API-KEY': this.key }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...more,
    };
    const text = body === undefined ? undefined : JSON.stringify(body);
    for (let repeated = 0; ; repeated += 1) {
      const signal = AbortSignal.any([this.signal, AbortSignal.timeout(timeoutMs)]);
      const init = { method, headers, signal, redirect: 'error' } as const;
      const sent = text === undefined ? init : { ...init, body: text };
      const answer = await fetch(`${this.url}${path}`, sent).catch((error: unknown) => {
        throw this.#noAnswer(error);
      });
      const answered = await answer.text();
      const parsed = parse(answered);
      if (answer.ok) return parsed as Answer;
      const waitMs = repeated < repeatsMax ? waitOf(answer) : undefined;
      if (waitMs === undefined) {
        const traceId = answer.headers.get('svc-trace-id') ?? undefined;
        throw new ApiProblem(toProblem(parsed, answer.status, answered), traceId);
      }
      await sleep(waitMs, undefined, { signal: this.signal }).catch((error: unknown) => {
        throw this.#noAnswer(error);
      });
    }
  }

  #noAnswer(error: unknown): Failure {
    if (this.signal.aborted) return new Failure('interrupted', 'Interrupted.');
    const { cause, message } = error as Error;
    const why = cause instanceof Error ? cause.message || String(cause) : message;
    return new Failure(
      'unreachable',
      `${this.url} does not answer: ${why}`,
      'Is the URL right, and does Glovebox run there? `glovebox doctor` looks closer.',
    );
  }
}

/** How long to wait where nothing was done, and there may be room soon. */
function waitOf({ status, headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  const isBusy = (status === 429 || status === 503) && seconds <= longestWaitSeconds;
  return isBusy ? seconds * 1_000 + Math.random() * 100 : undefined;
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

function toProblem(parsed: unknown, status: number, text: string): Problem {
  const given = parsed as Partial<Problem> & { readonly proxy_error?: Problem; error?: Problem };
  const problem = given?.proxy_error ?? given?.error ?? given;
  if (typeof problem?.code === 'string' && typeof problem.title === 'string') {
    return { status, ...problem } as Problem;
  }
  const title = `The answer is ${status}, and not of Glovebox: ${text.slice(0, 200)}`;
  return { code: 'not_of_glovebox', status, title };
}

const exitOf = ({ code, status }: Problem) => {
  if (status === 401 || status === 403) return 'refused';
  return code === 'deployment_conflict' || code === 'precondition_failed' ? 'conflict' : 'rejected';
};

function hintOf({ status, errors }: Problem): string | undefined {
  if (status === 401) return 'Log in with a valid key: `glovebox login`.';
  if (status === 403) return '`glovebox doctor` shows what the key may do.';
  const lines = Object.entries(errors ?? {}).map(([at, texts]) => `${at}: ${texts.join(', ')}`);
  return lines.length > 0 ? lines.join('\n') : undefined;
}
