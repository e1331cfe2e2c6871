import { Problem } from '@glovebox/problems';
import type { RunOutcome, ThrownError } from '@glovebox/sandbox';

/** What a reactor's code returned, as far as we understand it. */
export interface ReactorResult {
  readonly raw?: unknown;
  readonly tokenize?: unknown;
}

/** Error classes that customer code may throw (contract 3): recognised by name, on any runtime. */
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

/** The result of a run, or the problem that the caller is told. */
export function resultOf(outcome: RunOutcome, redact: (text: string) => string): ReactorResult {
  switch (outcome.kind) {
    case 'returned':
      return outcome.value === undefined ? {} : (outcome.value as ReactorResult);
    case 'threw':
      throw problemOfThrown(outcome.error, redact);
    case 'timed_out':
      throw new Problem('reactor_timeout');
    case 'no_capacity':
      throw new Problem('no_capacity', { retryAfterSeconds: 1 });
    case 'died':
      throw new Problem('reactor_crashed');
    case 'invalid_code':
      throw new Problem('invalid_code', { errors: { code: [redact(outcome.error.message)] } });
    case 'invalid_result':
      throw new Problem('invalid_reactor_result', { detail: invalidResult[outcome.reason] });
  }
}

const invalidResult: Readonly<
  Record<Extract<RunOutcome, { kind: 'invalid_result' }>['reason'], string>
> = {
  not_an_object: 'The reactor must return an object.',
  circular: 'The object that the reactor returned refers to itself.',
  too_large: 'The object that the reactor returned is too large.',
  not_serialisable: 'The object that the reactor returned cannot be written as JSON.',
};

const textMax = 1_000;

const withoutStack = (text: string): string => text.replace(/\n\s+at [^\n]*/g, '');

/** What customers' code threw is shown: without what the run knew, and not at any length. */
function problemOfThrown(error: ThrownError, redact: (text: string) => string): Problem {
  const shown = (text: string): string => redact(withoutStack(text)).slice(0, textMax);
  if (error.name === 'CustomHttpResponseError') {
    const { status = 500, body } = error;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return new Problem('reactor_error', {
      status: status >= 400 && status <= 599 ? status : 500,
      ...(body === undefined ? {} : { errors: { body: [shown(text)] } }),
    });
  }
  const { status, detail } = Object.hasOwn(errorClasses, error.name)
    ? (errorClasses[error.name] ?? otherError)
    : otherError;
  const errors = Object.entries(error.errors ?? { error: [error.message] }).map(
    ([name, messages]) => [shown(name), messages.map(shown)] as const,
  );
  return new Problem('reactor_error', { status, detail, errors: Object.fromEntries(errors) });
}
