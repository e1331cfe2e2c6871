import { inSlices, type Work } from '@glovebox/expressions';
import { applicationGone, invalid, Problem } from '@glovebox/problems';
import {
  cutThrownText,
  placeAt,
  type InspectorRefusal,
  type InvalidResultReason,
  type RunOutcome,
  type RuntimeRefusal,
  type ThrownError,
} from '@glovebox/sandbox';
import { adviceOn, type RanCode } from './code-advice';
import { crashDetail } from './crash-detail';
import type { Redact } from './redact';

/** A `timeout_ms` at most: the time of a run in the background. */
export const asyncTimeoutMaxMs = 210_000;

/** The run that had an outcome. */
export interface Ran extends RanCode {
  /** Names the code in errors. */
  readonly what: 'reactor' | 'request transform' | 'response transform';
  readonly isAsync: boolean;
  readonly timeoutMs: number;
}

/** Error classes that customer code may throw, recognised by name on any runtime. */
const errorClasses: Readonly<Record<string, { status: number; detail: string }>> = {
  BadRequestError: { status: 400, detail: 'Bad Request' },
  InvalidReactorConfigurationError: { status: 400, detail: 'Invalid Reactor Configuration' },
  AuthenticationError: { status: 401, detail: 'Authentication Failed' },
  InvalidPaymentMethodError: { status: 402, detail: 'Invalid Payment Method' },
  AuthorizationError: { status: 403, detail: 'Forbidden' },
  RateLimitError: { status: 429, detail: 'Rate Limit Exceeded' },
  ServiceUnavailableError: { status: 503, detail: 'Service Unavailable' },
};
const otherError = { status: 500, detail: 'Reactor Runtime Error' };

/** True for a refusal of `svc` that the code did not catch. */
const isApplicationGone = ({ name, message }: ThrownError): boolean =>
  name === 'Error' && message === new Problem('application_gone').message;

/** Returns the code's result, or throws the problem for the caller. */
export async function returnedValue(
  outcome: RunOutcome,
  redact: Redact,
  ran: Ran,
): Promise<unknown> {
  const { what } = ran;
  switch (outcome.kind) {
    case 'returned':
      return outcome.value;
    case 'threw':
      if (isApplicationGone(outcome.error)) {
        throw applicationGone(what === 'reactor' ? 'reactor' : 'proxy');
      }
      throw await inSlices(problemOfThrown(outcome.error, redact, ran));
    case 'timed_out':
      throw new Problem('reactor_timeout', { detail: timeoutDetail(ran) });
    case 'no_capacity':
      throw new Problem('no_capacity', refusalOf(outcome, what));
    case 'args_too_large':
      throw new Problem('payload_too_large', { detail: `It is too large for the ${what}.` });
    // Only transforms may throw an answer.
    case 'answered':
      throw new Problem('reactor_crashed');
    case 'died':
      throw new Problem('reactor_crashed', { detail: crashDetail(outcome, what) });
    case 'invalid_code':
      throw new Problem('invalid_code', {
        errors: { code: [await inSlices(shownOf(outcome.error.message, redact))] },
        position: placeAt(outcome.error.line, outcome.error.column),
      });
    case 'invalid_result':
      throw new Problem('invalid_reactor_result', {
        detail: `The ${invalidResult(what)[outcome.reason]}.`,
      });
  }
}

function timeoutDetail({ what, isAsync, timeoutMs }: Ran): string {
  const ran = `The ${what} ran longer than ${secondsOf(timeoutMs)}`;
  if (what !== 'reactor') return `${ran}.`;
  if (!isAsync) return `${ran}; with callback_url up to ${secondsOf(asyncTimeoutMaxMs)}.`;
  const more = timeoutMs < asyncTimeoutMaxMs ? `; up to ${secondsOf(asyncTimeoutMaxMs)}` : '';
  return `${ran}, its timeout_ms${more}.`;
}

const secondsOf = (ms: number): string => `${ms / 1_000} s`;

function refusalOf(
  { runtime, inspector }: { runtime?: RuntimeRefusal; inspector?: InspectorRefusal },
  what: string,
) {
  if (inspector !== undefined) return { retryAfterSeconds: 1, detail: notInspected[inspector] };
  switch (runtime) {
    case undefined:
      return { retryAfterSeconds: 1 };
    case 'fetching':
      return { retryAfterSeconds: 5, detail: `The runtime of the ${what} is being fetched.` };
    case 'not_fetched':
      return { retryAfterSeconds: 30, detail: `The runtime of the ${what} could not be fetched.` };
    case 'not_offered':
      return { retryAfterSeconds: 60, detail: `No runner offers the runtime of the ${what}.` };
  }
}

const notInspected: Readonly<Record<InspectorRefusal, string>> = {
  off: 'No runner lets debuggers in. One that is started with SANDBOX_INSPECT=true does.',
  not_connected: 'No debugger has told the runner the session of this run.',
  busy: 'As many runs as a runner allows have a debugger already.',
};

const invalidResult = (ran: string): Readonly<Record<InvalidResultReason, string>> => ({
  not_an_object: `${ran} must return an object`,
  circular: `object that the ${ran} returned refers to itself`,
  too_large: `object that the ${ran} returned is too large`,
  not_serialisable: `object that the ${ran} returned cannot be written as JSON`,
});

/** Shortens a text of customers' code, and removes known values and then the stack. */
function* shownOf(text: string, redact: Redact): Work<string> {
  const [shown = ''] = yield* redact([cutThrownText(text)]);
  return cutThrownText(shown.replace(/\n[ \t]+at [^\n]*/g, ''));
}

/** The error about a document that code made. Its members may have names that the run knew. */
export async function faultOfDocument(error: unknown, redact: Redact): Promise<unknown> {
  if (!(error instanceof Problem) || !error.errors) return error;
  const errors: [string, readonly string[]][] = [];
  for (const [name, messages] of Object.entries(error.errors)) {
    errors.push([await inSlices(shownOf(name, redact)), messages]);
  }
  return invalid(Object.fromEntries(errors));
}

function* problemOfThrown(error: ThrownError, redact: Redact, ran: Ran): Work<Problem> {
  const position = placeAt(error.line, error.column);
  if (error.name === 'CustomHttpResponseError') {
    const { status = 500, body } = error;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return new Problem('reactor_error', {
      status: status >= 400 && status <= 599 ? status : 500,
      position,
      ...(body === undefined ? {} : { errors: { body: [yield* shownOf(text, redact)] } }),
    });
  }
  const { status, detail } = Object.hasOwn(errorClasses, error.name)
    ? (errorClasses[error.name] ?? otherError)
    : otherError;
  const advice = adviceOn(error, ran);
  const errors: [string, string[]][] = [];
  for (const [name, messages] of Object.entries(error.errors ?? { error: [error.message] })) {
    const shown: string[] = [];
    for (const message of messages) shown.push(yield* shownOf(message, redact));
    // `error` is our own name for what has none.
    errors.push([name === 'error' ? name : yield* shownOf(name, redact), shown]);
  }
  return new Problem('reactor_error', {
    ...{ status, position },
    detail: advice === undefined ? detail : `${detail}. ${advice}`,
    errors: Object.fromEntries(errors),
  });
}
