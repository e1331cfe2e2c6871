import { problemCatalogue, type ProblemCode } from './catalogue';

/** Messages by property path. */
export type ProblemErrors = Readonly<Record<string, readonly string[]>>;

/** A place in the customer's code, counted from 1. */
interface CodePosition {
  readonly line: number;
  readonly column: number;
}

/** How work ended whose answer is not shown any more. */
export interface EndedWork {
  /** `completed`, or the code of its error. */
  readonly outcome: string;
  readonly httpStatus: number;
  readonly at: Date;
  readonly runId?: string;
}

export type FailurePhase =
  | 'name'
  | 'connect'
  | 'tls'
  | 'send'
  | 'first_byte'
  | 'body'
  | 'transform'
  | 'lookup';

/** Where a call failed, and why, in words. Told only to callers with a key of the tenant. */
export interface Failure {
  readonly phase: FailurePhase;
  readonly reason: string;
  /** Only where the tenant's own URL names it. */
  readonly address?: string | undefined;
  readonly port?: number | undefined;
  readonly destinationStatus?: number | undefined;
}

interface CauseBody {
  phase: FailurePhase;
  reason: string;
  address?: string;
  port?: number;
  destination_status?: number;
}

interface EndedBody {
  outcome: string;
  http_status: number;
  at: string;
  run_id?: string;
}

/** A resource that somebody else has changed meanwhile. It holds no value that is secret. */
type Conflict = object;

interface ProblemBody {
  title: string;
  status: number;
  code: ProblemCode;
  detail?: string;
  cause?: CauseBody;
  errors?: ProblemErrors;
  position?: CodePosition;
  ended?: EndedBody;
  conflicts?: readonly Conflict[];
}

interface ProblemOptions {
  /**
   * Only where the catalogue's status is a default: customer code sets its own by an error class.
   */
  status?: number;
  detail?: string;
  errors?: ProblemErrors;
  position?: CodePosition | undefined;
  ended?: EndedWork;
  conflicts?: readonly Conflict[];
  retryAfterSeconds?: number;
  /** The methods that the path takes. */
  allow?: readonly string[];
  failure?: Failure | undefined;
  cause?: unknown;
}

/** An error of the catalogue, with the text for the caller and nothing that is internal. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly detail: string | undefined;
  readonly errors: ProblemErrors | undefined;
  /** The place in the customer's code where the error was made. */
  readonly position: CodePosition | undefined;
  readonly ended: EndedWork | undefined;
  readonly conflicts: readonly Conflict[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly allow: readonly string[] | undefined;
  /** Filled in by whoever knows the place, which is often not where the problem was found. */
  failure: Failure | undefined;

  constructor(code: ProblemCode, options: ProblemOptions = {}) {
    super(options.detail ?? problemCatalogue[code].title, { cause: options.cause });
    this.name = 'Problem';
    this.code = code;
    this.status = options.status ?? problemCatalogue[code].status;
    this.detail = options.detail;
    this.errors = options.errors;
    this.position = options.position;
    this.ended = options.ended;
    this.conflicts = options.conflicts;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.allow = options.allow;
    this.failure = options.failure;
  }

  /** The answer. `withCause`: it goes to a caller with a key of the tenant. */
  body({ withCause = false } = {}): ProblemBody {
    return {
      title: problemCatalogue[this.code].title,
      status: this.status,
      code: this.code,
      ...(this.detail === undefined ? {} : { detail: this.detail }),
      ...(withCause && this.failure ? { cause: toCauseBody(this.failure) } : {}),
      ...(this.errors === undefined ? {} : { errors: this.errors }),
      ...(this.position === undefined ? {} : { position: this.position }),
      ...(this.ended === undefined ? {} : { ended: toEndedBody(this.ended) }),
      ...(this.conflicts === undefined ? {} : { conflicts: this.conflicts }),
    };
  }
}

const toCauseBody = ({ phase, reason, address, port, destinationStatus }: Failure): CauseBody => ({
  phase,
  reason,
  ...(address === undefined ? {} : { address }),
  ...(port === undefined ? {} : { port }),
  ...(destinationStatus === undefined ? {} : { destination_status: destinationStatus }),
});

const toEndedBody = ({ outcome, httpStatus, at, runId }: EndedWork): EndedBody => ({
  outcome,
  http_status: httpStatus,
  at: at.toISOString(),
  ...(runId === undefined ? {} : { run_id: runId }),
});

/** Turns anything thrown into a problem. An unforeseen error tells the caller nothing. */
export function toProblem(thrown: unknown): Problem {
  return thrown instanceof Problem ? thrown : new Problem('internal_error', { cause: thrown });
}

/** Answers a path whose id names nothing, and alike one whose id names what is another tenant's. */
export function notFound(noun: string): Problem {
  return new Problem('not_found', { detail: `There is no ${noun} with this id.` });
}

/** Refuses what a proxy or reactor would do as an application that was deleted. */
export function applicationGone(owner: 'proxy' | 'reactor'): Problem {
  return new Problem('application_gone', { detail: `The application of this ${owner} is gone.` });
}

/** Refuses a method, and names those that the path takes. */
export function methodNotAllowed(allow: readonly string[]): Problem {
  const [last, ...others] = [...allow].reverse();
  const named = others.length === 0 ? last : `${others.reverse().join(', ')} or ${last}`;
  return new Problem('method_not_allowed', { allow, detail: `Use ${named}.` });
}

/** Refuses input, with messages for each member that is wrong. */
export function invalid(errors: ProblemErrors): Problem {
  return new Problem('validation_failed', { errors });
}
