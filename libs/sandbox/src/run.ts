import { FrameError, type JsonObject } from './frames';
import { logLevels, type LogLevel } from './log-limits';

export const runtimes = ['node16', 'node20'] as const;
export type Runtime = (typeof runtimes)[number];
export type Isolation = 'warm' | 'run';
/** `sync`: a caller waits for the answer. */
const urgencies = ['sync', 'async'] as const;
export type Urgency = (typeof urgencies)[number];
/** A transform finds headers by names in any case, and may throw the whole answer. */
const runKinds = ['reactor', 'transform'] as const;
type RunKind = (typeof runKinds)[number];

export interface RunRequest {
  readonly kind: RunKind;
  readonly tenantId: string;
  readonly resourceId: string;
  readonly runtime: Runtime;
  readonly applicationId: string | null;
  readonly code: string;
  readonly codeHash: string;
  readonly isolation: Isolation;
  readonly args: unknown;
  readonly configuration: Readonly<Record<string, string>>;
  /** Gives the code a `req.svc`. Its calls come back through `onCall`. */
  readonly svc: boolean;
  readonly urgency: Urgency;
  readonly timeoutMs: number;
  readonly resultBytesMax: number;
}

/**
 * The part of a request that is always sent. The code follows only when a process has to load it.
 */
export type RunOrder = Omit<RunRequest, 'code'>;

/** An error of customers' code, reduced to the members that an answer may be built from. */
export interface ThrownError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly status?: number;
  /** The argument of an error class, always as lists of strings. */
  readonly errors?: Readonly<Record<string, readonly string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The place in the customer's code, counted from 1. */
  readonly line?: number;
  readonly column?: number;
}

const invalidResultReasons = [
  'not_an_object',
  'circular',
  'not_serialisable',
  'too_large',
] as const;
export type InvalidResultReason = (typeof invalidResultReasons)[number];

type Outcome =
  | { readonly kind: 'returned'; readonly value: unknown }
  /** A transform threw the answer. Status, headers and body are not validated yet. */
  | { readonly kind: 'answered'; readonly value: unknown }
  | { readonly kind: 'args_too_large' }
  | { readonly kind: 'threw'; readonly error: ThrownError }
  | { readonly kind: 'timed_out' }
  | { readonly kind: 'no_capacity' }
  | { readonly kind: 'died'; readonly reason: string }
  | { readonly kind: 'invalid_code'; readonly error: ThrownError }
  | { readonly kind: 'invalid_result'; readonly reason: InvalidResultReason };

export type RunOutcome = Outcome & {
  /** The time that the run waited for a process. Absent if it got none. */
  readonly queuedMs?: number;
};

export interface LogLine {
  /** Milliseconds since 1970, by the clock of the runner. */
  readonly at: number;
  readonly level: LogLevel;
  readonly text: string;
}

/** The side of a run that the process which asked for it keeps. */
export interface RunHooks {
  /** `svc.tokenize`, `svc.tokens.create`, …: `params` lists the arguments of the call. */
  onCall(method: string, params: unknown): Promise<unknown>;
  onLog?(line: LogLine): void;
  signal?: AbortSignal;
}

/** An OS process serves one key and never another. */
export function processKey(run: RunOrder): string {
  return JSON.stringify([
    run.tenantId,
    run.resourceId,
    run.codeHash,
    run.runtime,
    run.applicationId,
  ]);
}

// ---- parsing: everything here came from another process ----

export function parseRunOrder(body: JsonObject): RunOrder {
  const { kind = 'reactor', applicationId, runtime, isolation, configuration } = body;
  return {
    kind: oneOf(runKinds, kind, 'kind'),
    tenantId: textOf(body, 'tenantId'),
    resourceId: textOf(body, 'resourceId'),
    runtime: oneOf(runtimes, runtime, 'runtime'),
    applicationId: applicationId === null ? null : textOf(body, 'applicationId'),
    codeHash: textOf(body, 'codeHash'),
    isolation: oneOf(['warm', 'run'] as const, isolation, 'isolation'),
    args: body['args'],
    configuration: textsOf(configuration, 'configuration'),
    svc: body['svc'] === true,
    urgency: oneOf(urgencies, body['urgency'], 'urgency'),
    timeoutMs: positiveOf(body, 'timeoutMs'),
    resultBytesMax: positiveOf(body, 'resultBytesMax'),
  };
}

export function parseOutcome(body: JsonObject): RunOutcome {
  const { queuedMs } = body;
  const outcome = parseKind(body);
  if (queuedMs === undefined) return outcome;
  if (!isWhole(queuedMs, 0, Number.MAX_SAFE_INTEGER)) {
    throw new FrameError('queuedMs is not a whole number');
  }
  return { ...outcome, queuedMs };
}

function parseKind(body: JsonObject): Outcome {
  switch (body['kind']) {
    case 'returned':
    case 'answered':
      return { kind: body['kind'], value: body['value'] };
    case 'threw':
    case 'invalid_code':
      return { kind: body['kind'], error: parseThrownError(body['error']) };
    case 'timed_out':
    case 'no_capacity':
      return { kind: body['kind'] };
    case 'died':
      return { kind: 'died', reason: textOf(body, 'reason') };
    case 'invalid_result':
      return {
        kind: 'invalid_result',
        reason: oneOf(invalidResultReasons, body['reason'], 'reason'),
      };
    default:
      throw new FrameError('a result of an unknown kind');
  }
}

function parseThrownError(value: unknown): ThrownError {
  const error = objectOf(value, 'error');
  const { code, status, errors, headers, line, column } = error;
  return {
    name: cutThrownText(textOf(error, 'name')),
    message: cutThrownText(textOf(error, 'message')),
    ...(typeof code === 'string' ? { code: cutThrownText(code) } : {}),
    ...(isHttpStatus(status) ? { status } : {}),
    ...(errors === undefined ? {} : { errors: cutThrownLists(listsOf(errors)) }),
    ...(headers === undefined ? {} : { headers: cutThrownHeaders(textsOf(headers, 'headers')) }),
    ...('body' in error ? { body: cutThrownBody(error['body']) } : {}),
    ...(isPlace(line) ? { line } : {}),
    ...(isPlace(column) ? { column } : {}),
  };
}

// ---- how much is shown of an error that customers' code threw ----

const thrownTextMax = 1_000;
const thrownEntriesMax = 50;

export const cutThrownText = (text: string): string => text.slice(0, thrownTextMax);

/** Cuts names and texts, and keeps `thrownEntriesMax` texts under all names together. */
export function cutThrownLists(
  lists: Readonly<Record<string, readonly string[]>>,
): Record<string, readonly string[]> {
  let left = thrownEntriesMax;
  const kept: [string, readonly string[]][] = [];
  for (const [name, texts] of Object.entries(lists)) {
    if (left <= 0) break;
    const some = texts.slice(0, left).map(cutThrownText);
    left -= Math.max(some.length, 1);
    kept.push([cutThrownText(name), some]);
  }
  return Object.fromEntries(kept);
}

/** A body is shown as text. A longer one does not leave the sandbox. */
export function cutThrownBody(body: unknown): unknown {
  const text = typeof body === 'string' ? body : (JSON.stringify(body) ?? '');
  return text.length > thrownTextMax ? cutThrownText(text) : body;
}

export function cutThrownHeaders(
  headers: Readonly<Record<string, string>>,
): Record<string, string> {
  const kept = Object.entries(headers).slice(0, thrownEntriesMax);
  return Object.fromEntries(kept.map(([name, text]) => [cutThrownText(name), cutThrownText(text)]));
}

export const isHttpStatus = (value: unknown): value is number => isWhole(value, 200, 599);

/** A line or a column that may be shown. */
export const isPlace = (value: unknown): value is number => isWhole(value, 1, 1_000_000);

function isWhole(value: unknown, least: number, most: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}

export function parseLogLine(body: JsonObject): LogLine {
  return {
    at: positiveOf(body, 'at'),
    level: oneOf(logLevels, body['level'], 'level'),
    text: textOf(body, 'text'),
  };
}

export function textOf(body: JsonObject, name: string): string {
  const value = body[name];
  if (typeof value !== 'string') throw new FrameError(`${name} is not a string`);
  return value;
}

export function positiveOf(body: JsonObject, name: string): number {
  const value = body[name];
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
    throw new FrameError(`${name} is not a positive whole number`);
  }
  return value;
}

export function objectOf(value: unknown, name: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new FrameError(`${name} is not an object`);
  }
  return value as JsonObject;
}

function textsOf(value: unknown, name: string): Record<string, string> {
  const texts = objectOf(value, name);
  if (Object.values(texts).some((text) => typeof text !== 'string')) {
    throw new FrameError(`${name} holds something else than strings`);
  }
  return texts as Record<string, string>;
}

function listsOf(value: unknown): Record<string, string[]> {
  const lists = objectOf(value, 'errors');
  for (const list of Object.values(lists)) {
    if (!Array.isArray(list) || list.some((text) => typeof text !== 'string')) {
      throw new FrameError('errors holds something else than lists of strings');
    }
  }
  return lists as Record<string, string[]>;
}

function oneOf<const Known extends string>(
  known: readonly Known[],
  value: unknown,
  name: string,
): Known {
  const found = known.find((candidate) => candidate === value);
  if (found === undefined) throw new FrameError(`${name} is unknown`);
  return found;
}
