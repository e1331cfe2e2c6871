import { FrameError } from './frames';
import { isWhole, objectOf, textOf, textsOf } from './members';

/** A call in customers' code that an error came through. */
export interface CodeFrame {
  /** Absent where it has none, or one that is no plain name. */
  readonly function?: string;
  readonly line: number;
  readonly column: number;
}

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
  /** The calls within customers' code, the innermost first. */
  readonly stack?: readonly CodeFrame[];
}

export function parseThrownError(value: unknown): ThrownError {
  const error = objectOf(value, 'error');
  const { code, status, errors, headers, line, column, stack } = error;
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
    ...(Array.isArray(stack) ? { stack: framesOf(stack) } : {}),
  };
}

/** Leaves out what is no frame: an error without a stack still says something. */
function framesOf(stack: readonly unknown[]): CodeFrame[] {
  return stack.slice(0, stackFramesMax).flatMap((entry): CodeFrame[] => {
    if (typeof entry !== 'object' || entry === null) return [];
    const { function: name, line, column } = entry as Record<string, unknown>;
    if (!isPlace(line) || !isPlace(column)) return [];
    return [{ ...(isFunctionName(name) ? { function: name } : {}), line, column }];
  });
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

export const isHttpStatus = (value: unknown): value is number => isWhole(value, 200, 599);

/** A line or a column that may be shown. */
export const isPlace = (value: unknown): value is number => isWhole(value, 1, 1_000_000);

// ---- how much is shown of it ----

const thrownTextMax = 1_000;
/** Calls that are kept of a stack. */
export const stackFramesMax = 20;
/** Code may compute a name, from data too. One that was cut could not be redacted. */
const functionName = /^[\w$.<>#[\] ]{1,60}$/;
const thrownEntriesMax = 50;

export const isFunctionName = (name: unknown): name is string =>
  typeof name === 'string' && functionName.test(name);

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
