import { problemCodes, type components } from './api';

type Problem = components['schemas']['Problem'];
export type ProblemCode = Problem['code'];

/** An error that Glovebox answered. `errors` has a class for each code. */
export class GloveboxError extends Error {
  override readonly name = 'GloveboxError';
  readonly code: ProblemCode;
  readonly status: number;
  readonly detail: string | undefined;
  /** Messages by the path of a member. */
  readonly errors: Readonly<Record<string, readonly string[]>>;

  constructor(
    /** The whole answer: `cause`, `position` and `ended` are in it, where there are any. */
    readonly problem: Problem,
    /** The `SVC-TRACE-ID` of the call: give it to the operator. */
    readonly traceId?: string,
    /** How long to wait before the call is repeated, where the answer says it. */
    readonly retryAfterMs?: number,
  ) {
    super(wordsOf(problem));
    this.code = problem.code;
    this.status = problem.status;
    this.detail = problem.detail;
    this.errors = problem.errors ?? {};
  }
}

type ErrorClass<Code extends ProblemCode> = new (
  ...args: ConstructorParameters<typeof GloveboxError>
) => GloveboxError & { readonly code: Code };

/** A class for each code: `error instanceof errors.not_found`. */
export const errors = Object.fromEntries(
  problemCodes.map((code) => [code, class extends GloveboxError {}]),
) as unknown as { readonly [Code in ProblemCode]: ErrorClass<Code> };

/** No answer came: the connection failed, or the time was over. Whether the call was carried out is unknown. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';

  get isTimeout(): boolean {
    return (this.cause as Error | undefined)?.name === 'TimeoutError';
  }
}

/** The error of a problem. A code of a newer release has no class of its own yet. */
export function errorOf(problem: Problem, headers?: Headers): GloveboxError {
  const known = Object.hasOwn(errors, problem.code) ? errors[problem.code] : GloveboxError;
  return new known(
    problem,
    headers?.get('svc-trace-id') ?? undefined,
    headers && retryAfterMs(headers),
  );
}

/** `Retry-After` in milliseconds. Undefined: there is none that can be read. */
export function retryAfterMs(headers: Headers): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

function wordsOf({ code, title, detail, errors: members = {} }: Problem): string {
  const [[where, messages] = []] = Object.entries(members);
  return `${code}: ${detail ?? title}${messages ? ` ${where}: ${messages.join(', ')}` : ''}`;
}
