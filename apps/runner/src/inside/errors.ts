import {
  cutThrownBody,
  cutThrownHeaders,
  cutThrownLists,
  cutThrownText,
  isHttpStatus,
  type ThrownError,
} from '@glovebox/sandbox';
import { placeInCode } from './place-in-code';

class ReactorError extends Error {
  constructor(readonly errors?: unknown) {
    super(typeof errors === 'string' ? errors : errors instanceof Error ? errors.message : '');
    this.name = new.target.name;
  }
}
class BadRequestError extends ReactorError {}
class InvalidReactorConfigurationError extends ReactorError {}
class AuthenticationError extends ReactorError {}
class InvalidPaymentMethodError extends ReactorError {}
class AuthorizationError extends ReactorError {}
class RateLimitError extends ReactorError {}
class ReactorRuntimeError extends ReactorError {}
class ServiceUnavailableError extends ReactorError {}

class CustomHttpResponseError extends Error {
  readonly status: unknown;
  readonly headers: unknown;
  readonly body: unknown;

  constructor(response: { status?: unknown; headers?: unknown; body?: unknown } = {}) {
    super('');
    this.name = 'CustomHttpResponseError';
    this.status = response.status;
    this.headers = response.headers;
    this.body = response.body;
  }
}

/** The exports of `require('@svc/reactor-errors')`. */
export const reactorErrors = {
  ReactorError,
  BadRequestError,
  InvalidReactorConfigurationError,
  AuthenticationError,
  InvalidPaymentMethodError,
  AuthorizationError,
  RateLimitError,
  ReactorRuntimeError,
  ServiceUnavailableError,
  CustomHttpResponseError,
};

/** Recognises the classes by shape: a bundle may carry its own copy of them. */
export function describeThrown(thrown: unknown): ThrownError {
  try {
    if (typeof thrown !== 'object' || thrown === null) {
      return { name: 'Error', message: cutThrownText(String(thrown)) };
    }
    const error = thrown as Record<string, unknown>;
    const name = nameOf(error);
    const common = {
      name,
      message: cutThrownText(textOf(error['message'])),
      ...(typeof error['code'] === 'string' ? { code: cutThrownText(error['code']) } : {}),
      ...(isHttpStatus(error['status']) ? { status: error['status'] } : {}),
      ...placeInCode(error),
    };
    if (name === 'CustomHttpResponseError') return { ...common, ...describeResponse(error) };
    if (isReactorError(name))
      return { ...common, errors: cutThrownLists(listErrors(error['errors'])) };
    return common;
  } catch {
    // A getter of the thrown object threw itself.
    return { name: 'Error', message: '' };
  }
}

/** An answer that a transform threw, not validated. The sender validates it. */
export function thrownAnswer(thrown: unknown): object | undefined {
  try {
    if (typeof thrown !== 'object' || thrown === null) return undefined;
    const error = thrown as Record<string, unknown>;
    if (nameOf(error) !== 'CustomHttpResponseError') return undefined;
    return { status: error['status'], headers: error['headers'], body: error['body'] };
  } catch {
    return undefined;
  }
}

/** Shortens headers and body to the part that is shown. */
export function cutThrown({ headers, body, ...error }: ThrownError): ThrownError {
  return {
    ...error,
    ...(headers === undefined ? {} : { headers: cutThrownHeaders(headers) }),
    ...(body === undefined ? {} : { body: cutThrownBody(body) }),
  };
}

/** Taken before code can replace them. */
const { getPrototypeOf, hasOwn } = Object;

const isReactorError = (name: unknown): name is string =>
  typeof name === 'string' && hasOwn(reactorErrors, name);

/** A class may extend one of ours. Code may lie about its ancestors without end. */
const generationsSearched = 10;

function nameOf(error: Record<string, unknown>): string {
  const own = error['name'];
  if (isReactorError(own)) return own;
  let ancestor: { constructor?: { name?: unknown } } | null = error;
  for (let nth = 0; ancestor !== null && nth < generationsSearched; nth += 1) {
    const name = ancestor.constructor?.name;
    if (isReactorError(name)) return name;
    ancestor = getPrototypeOf(ancestor) as typeof ancestor;
  }
  return cutThrownText(typeof own === 'string' && own !== '' ? own : 'Error');
}

/** Turns a string, an array, an Error or an object into lists of strings. */
function listErrors(argument: unknown): Record<string, string[]> {
  if (argument === undefined || argument === null) return {};
  if (argument instanceof Error) return { error: [argument.message] };
  if (typeof argument !== 'object') return { error: [String(argument)] };
  if (Array.isArray(argument)) return { error: listOf(argument) };
  return Object.fromEntries(Object.entries(argument).map(([name, value]) => [name, listOf(value)]));
}

function listOf(value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.map(textOf);
}

function describeResponse(error: Record<string, unknown>): Partial<ThrownError> {
  const { headers, body } = error;
  const texts =
    typeof headers === 'object' && headers !== null
      ? Object.entries(headers).map(([name, value]) => [name, textOf(value)])
      : [];
  return {
    headers: Object.fromEntries(texts) as Record<string, string>,
    ...(body === undefined ? {} : { body }),
  };
}

function textOf(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return value;
  if (value instanceof Error) return value.message;
  return typeof value === 'object' ? jsonOf(value) : String(value);
}

/** Nothing for what JSON cannot hold: the other texts of the error still say something. */
function jsonOf(value: object | null): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '';
  }
}
