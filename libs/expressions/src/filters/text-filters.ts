import { createHmac } from 'node:crypto';
import { type Budget, paddingMax, textLengthMax } from '../bounds/limits';
import type { Work } from '../bounds/time-slices';
import { fromEnd, fromStart, lengthOf } from './code-points';
import type { Argument, Change } from './filter';

type TextChange = (text: string, budget: Budget) => string | undefined | Work<string | undefined>;

/** Strings as they are, numbers and booleans as text. Undefined for other values. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

export function ofText(change: TextChange): Change {
  return (value, budget) => {
    const text = scalarText(value);
    return text === undefined ? undefined : change(text, budget);
  };
}

function isCount(value: Argument | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isCharacter(value: Argument): value is string {
  return typeof value === 'string' && lengthOf(value) === 1;
}

/** Keeps the first and the last characters and replaces each between them by `character`. */
export function reveal(
  first?: Argument,
  last: Argument = 0,
  character: Argument = '*',
): Change | undefined {
  if (!isCount(first) || !isCount(last) || !isCharacter(character)) return undefined;
  return ofText((text) => {
    const begin = fromStart(text, first);
    const end = Math.max(begin, fromEnd(text, last));
    const hidden = character.repeat(lengthOf(text.slice(begin, end)));
    return text.slice(0, begin) + hidden + text.slice(end);
  });
}

export function revealLast(count?: Argument, character?: Argument): Change | undefined {
  return isCount(count) ? reveal(0, count, character) : undefined;
}

export function last4(): Change {
  return ofText((text) => text.slice(fromEnd(text, 4)));
}

export function padLeft(length?: Argument, character?: Argument): Change | undefined {
  return pad(length, character, (text, padding) => padding + text);
}

export function padRight(length?: Argument, character?: Argument): Change | undefined {
  return pad(length, character, (text, padding) => text + padding);
}

function pad(
  length: Argument | undefined,
  character: Argument = ' ',
  join: (text: string, padding: string) => string,
): Change | undefined {
  if (!isCount(length) || length > paddingMax || !isCharacter(character)) return undefined;
  return ofText((text) => join(text, character.repeat(Math.max(0, length - lengthOf(text)))));
}

/** A negative start counts from the end. */
export function slice(
  start?: Argument,
  length: Argument = Number.MAX_SAFE_INTEGER,
): Change | undefined {
  if (typeof start !== 'number' || !Number.isSafeInteger(start) || !isCount(length)) {
    return undefined;
  }
  return ofText((text) => {
    const rest = text.slice(start < 0 ? fromEnd(text, -start) : fromStart(text, start));
    return rest.slice(0, fromStart(rest, length));
  });
}

/** Charged to the budget in characters: a replacement takes longer than to read its characters. */
const replacementCost = 8;

/** Replacements between two pauses for others. */
const replacementsOfSlice = 8_192;

export function replace(search?: Argument, replacement?: Argument): Change | undefined {
  if (typeof search !== 'string' || typeof replacement !== 'string' || search === '') {
    return undefined;
  }
  return ofText((text, budget) => replaced(text, search, replacement, budget));
}

function* replaced(
  text: string,
  search: string,
  replacement: string,
  budget: Budget,
): Work<string | undefined> {
  const growth = replacement.length - search.length;
  let { length } = text;
  let from = 0;
  let made = '';
  for (let at = text.indexOf(search); at >= 0;) {
    const parts: string[] = [];
    for (; at >= 0 && parts.length < 2 * replacementsOfSlice; at = text.indexOf(search, from)) {
      parts.push(text.slice(from, at), replacement);
      from = at + search.length;
    }
    const count = parts.length / 2;
    budget.work(count * replacementCost);
    length += count * growth;
    // A short text in place of each letter would explode.
    if (length > textLengthMax && growth > 0) return undefined;
    made += parts.join('');
    yield;
  }
  return made + text.slice(from);
}

export function append(suffix?: Argument): Change | undefined {
  return typeof suffix === 'string' ? ofText((text) => text + suffix) : undefined;
}

export function prepend(prefix?: Argument): Change | undefined {
  return typeof prefix === 'string' ? ofText((text) => prefix + text) : undefined;
}

const algorithms = ['sha256', 'sha384', 'sha512', 'sha1'];

const algorithmOf = (name: Argument | undefined): string | undefined =>
  algorithms.find((one) => typeof name === 'string' && one === name.toLowerCase());

export function hmac(algorithm?: Argument, key?: Argument): Change | undefined {
  const name = algorithmOf(algorithm);
  if (name === undefined || typeof key !== 'string' || key === '') return undefined;
  return ofText((text) => createHmac(name, key).update(text, 'utf8').digest('hex'));
}

/** Bytes that are read between two pauses for others. */
const signedOfSlice = 256 * 1024;

/** The HMAC of the body that leaves. The text is its key. */
export function hmacOfBody(algorithm?: Argument, encoding: Argument = 'hex'): Change | undefined {
  const name = algorithmOf(algorithm);
  if (name === undefined || (encoding !== 'hex' && encoding !== 'base64')) return undefined;
  return ofText((key, budget) =>
    key === '' || !budget.body ? undefined : signatureOf(budget.body, name, key, encoding, budget),
  );
}

function* signatureOf(
  body: Buffer,
  algorithm: string,
  key: string,
  encoding: 'hex' | 'base64',
  budget: Budget,
): Work<string> {
  budget.work(body.length);
  const signing = createHmac(algorithm, key);
  for (let at = 0; at < body.length; at += signedOfSlice) {
    signing.update(body.subarray(at, at + signedOfSlice));
    yield;
  }
  return signing.digest(encoding);
}
