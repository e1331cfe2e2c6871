import { isAscii, isUtf8 } from 'node:buffer';
import { Problem } from '@glovebox/problems';
import { JsonTally, type FreeMembers } from './json-tally';

export interface JsonRules {
  readonly free?: FreeMembers;
  /** Returns the JSON that replaces a number which JSON.stringify would write in another way. */
  readonly standIn?: (literal: string) => string;
  /** Allows numbers to lose digits, as JSON.parse does. */
  readonly rounds?: boolean;
}

const poisoned = new Set(['__proto__', 'constructor', 'prototype']);

/** Work that may pause wherever it yields. */
type Slices<Result> = Generator<undefined, Result, undefined>;

/**
 * Parses JSON and refuses duplicate members, members that could reach a prototype, lone surrogates,
 * and more than JsonTally allows. Throws a Problem that names the place, never the text.
 */
export class StrictJson {
  readonly #tally: JsonTally;

  constructor(
    private readonly free: FreeMembers = [],
    private readonly rules: Pick<JsonRules, 'rounds'> = {},
  ) {
    this.#tally = new JsonTally(free);
  }

  /** Counts each part of the body as it arrives, so that too much is refused before it is kept. */
  readonly count = (chunk: Uint8Array): void => this.#tally.add(chunk);

  /**
   * Parses the bytes that were counted. The longest part without a pause takes 30 ms for 10 MiB.
   */
  *parse(bytes: Buffer): Slices<unknown> {
    if (this.#tally.bytes !== bytes.length) throw new Error('Parses only what was counted');
    return yield* parseCounted(yield* decodeUtf8(bytes), { ...this.rules, free: this.free });
  }
}

/** Parses a text by the same rules. */
export function* parseStrictJson(text: string, rules: JsonRules = {}): Slices<unknown> {
  const tally = new JsonTally(rules.free ?? []);
  for (let at = 0; at < text.length; at += inspectedAtOnce) {
    tally.add(Buffer.from(text.slice(at, at + inspectedAtOnce)));
    yield;
  }
  return yield* parseCounted(text, rules);
}

function* parseCounted(text: string, rules: JsonRules): Slices<unknown> {
  const numbers = rules.standIn && new ReplacedNumbers(text, rules.standIn);
  yield* inspect(text, rules, numbers);
  try {
    return JSON.parse(numbers?.text ?? text) as unknown;
  } catch {
    throw new Problem('invalid_json');
  }
}

const decodedAtOnce = 256 * 1024;

export function* decodeUtf8(bytes: Buffer): Slices<string> {
  if (!isUtf8(bytes)) {
    throw new Problem('invalid_json', { detail: 'The body is not valid UTF-8.' });
  }
  const decoder = new TextDecoder();
  let text = '';
  for (let at = 0; at < bytes.length; at += decodedAtOnce) {
    const part = bytes.subarray(at, at + decodedAtOnce);
    text += isAscii(part) ? part.toString('latin1') : decoder.decode(part, { stream: true });
    yield;
  }
  return text;
}

const quote = 0x22;
const comma = 0x2c;
const minus = 0x2d;
const dot = 0x2e;
const zero = 0x30;
const nine = 0x39;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const letterE = 0x65;
const openBrace = 0x7b;
const closeBrace = 0x7d;

const inspectedAtOnce = 64 * 1024;

/** Checks the text in one pass before JSON.parse builds anything. Reads char codes: it is hot. */
function* inspect(
  text: string,
  { free = [], rounds = false }: JsonRules,
  numbers: ReplacedNumbers | undefined,
): Slices<void> {
  const isFreeMember = (name: string): boolean => free === 'all' || free.includes(name);
  let isFree = free === 'all';
  const escapes = new Finder(text);
  /** The names of each open object; null for a list. */
  const members: (Set<string> | null)[] = [];
  let at = 0;
  let expectsName = false;
  for (let pauseAt = inspectedAtOnce; at < text.length;) {
    if (at >= pauseAt) {
      yield;
      pauseAt = at + inspectedAtOnce;
    }
    const start = at;
    const code = text.charCodeAt(at);
    switch (code) {
      case quote: {
        const names = members.at(-1);
        if (members.length === 1 && expectsName) isFree = free === 'all';
        at = endOfString(text, start, escapes);
        if (!isFree && escapes.from(start) < at) {
          refuseLoneSurrogates(text.slice(start, at), start);
        }
        if (names && expectsName) {
          const name = rememberName(names, text.slice(start, at), start);
          if (!isFree && poisoned.has(name)) refuseName(start);
          if (members.length === 1) isFree = isFreeMember(name);
          expectsName = false;
        }
        break;
      }
      case openBrace:
      case openBracket:
        members.push(code === openBrace ? new Set() : null);
        expectsName = code === openBrace;
        at += 1;
        break;
      case closeBrace:
      case closeBracket:
        members.pop();
        at += 1;
        break;
      case comma:
        expectsName = members.at(-1) instanceof Set;
        at += 1;
        break;
      default:
        if (isBlank(code) || code === colon) at = endOfBlanks(text, start);
        else if (!isOfNumber(code)) at = endOfWord(text, start);
        else if (numbers) at = numbers.take(start, expectsName);
        else at = isFree && !rounds ? endOfExactNumber(text, start) : endOfWord(text, start);
    }
  }
}

const isBlank = (code: number): boolean =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
const isDigit = (code: number): boolean => code >= zero && code <= nine;
const isOfNumber = (code: number): boolean => isDigit(code) || code === minus;

/** The end of the blanks, or a place before it at which others may be served. */
function endOfBlanks(text: string, start: number): number {
  let at = start + 1;
  while (isBlank(text.charCodeAt(at)) && at - start < inspectedAtOnce) at += 1;
  return at;
}

/** The end of a number or of `true`, `false`, `null`. JSON.parse tells which one it is, if any. */
function endOfWord(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === comma || code === closeBracket || code === closeBrace) return at;
    if (isBlank(code) || code === quote) return at;
  }
  return text.length;
}

const numberLiteral = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** A number that can be kept exactly needs no more, unless it is padded with zeros. */
const jsonNumberCharactersMax = 400;

/** A double keeps so many decimal digits as they were. */
const exactDigits = 15;

/** The end of a number of the customer's own, which is kept exactly or refused. */
function endOfExactNumber(text: string, start: number): number {
  let at = text.charCodeAt(start) === minus ? start + 1 : start;
  const limit = at + exactDigits;
  while (at <= limit && (isDigit(text.charCodeAt(at)) || text.charCodeAt(at) === dot)) at += 1;
  const isShort = at <= limit && at > start && (text.charCodeAt(at) | 0x20) !== letterE;
  return isShort && isDigit(text.charCodeAt(at - 1)) ? at : endOfLongNumber(text, start);
}

function endOfLongNumber(text: string, start: number): number {
  const literal = literalAt(text, start, numberLiteral);
  if (exactNumber(literal) === undefined) {
    throw new Problem('invalid_json', {
      detail: `The number at character ${start} cannot be kept exactly; it may be sent as a string.`,
    });
  }
  return start + literal.length;
}

function literalAt(text: string, start: number, shape: RegExp): string {
  shape.lastIndex = start;
  const [literal] = shape.exec(text) ?? [];
  if (literal === undefined) throw new Problem('invalid_json');
  if (literal.length > jsonNumberCharactersMax) {
    throw new Problem('invalid_json', {
      detail: `The number at character ${start} is longer than ${jsonNumberCharactersMax} characters.`,
    });
  }
  return literal;
}

/** The number that a literal stands for, or undefined if digits would be lost. */
export function exactNumber(literal: string): number | undefined {
  const number = Number(literal);
  const kept = String(number);
  return kept === literal || significance(literal) === significance(kept) ? number : undefined;
}

const strictNumberLiteral = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** Replaces numbers of a text by other JSON. */
class ReplacedNumbers {
  readonly #parts: string[] = [];
  #from = 0;

  constructor(
    private readonly whole: string,
    private readonly standIn: (literal: string) => string,
  ) {}

  /** The text with the taken numbers replaced and all else unchanged, right or wrong. */
  get text(): string {
    return this.#from === 0 ? this.whole : this.#parts.join('') + this.whole.slice(this.#from);
  }

  /**
   * Returns the end of the number. Refuses one in the place of a name: its replacement may be a
   * string, which would make it a name.
   */
  take(start: number, isInPlaceOfName: boolean): number {
    if (isInPlaceOfName) throw new Problem('invalid_json');
    const literal = literalAt(this.whole, start, strictNumberLiteral);
    const end = start + literal.length;
    if (String(Number(literal)) !== literal) {
      this.#parts.push(this.whole.slice(this.#from, start), this.standIn(literal));
      this.#from = end;
    }
    return end;
  }
}

/** The digits and exponent of a number, equal for all spellings of it. */
function significance(literal: string): string {
  const [mantissa = '', exponent = '0'] = literal.toLowerCase().split('e');
  const sign = mantissa.startsWith('-') ? '-' : '';
  const [whole = '', fraction = ''] = mantissa.slice(sign.length).split('.');
  const digits = whole + fraction;
  // A loop, because /0+$/ would try again at each zero within the digits.
  let [from, to] = [0, digits.length];
  while (from < to && digits.charCodeAt(from) === zero) from += 1;
  while (to > from && digits.charCodeAt(to - 1) === zero) to -= 1;
  if (from === to) return '0';
  const power = Number(exponent) - fraction.length + (digits.length - to);
  return `${sign}${digits.slice(from, to)}e${power}`;
}

/** The place after the closing quote. */
function endOfString(text: string, start: number, escapes: Finder): number {
  const close = text.indexOf('"', start + 1);
  let at = escapes.from(start + 1);
  if (close >= 0 && close < at) return close + 1;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) return at + 1;
    if (code === backslash) at += 1;
  }
  throw new Problem('invalid_json');
}

/** Finds the next backslash. Places are asked for in ascending order, so the text is read once. */
class Finder {
  #next = -1;

  constructor(private readonly text: string) {}

  from(at: number): number {
    if (this.#next < at) {
      const next = this.text.indexOf('\\', at);
      this.#next = next < 0 ? Infinity : next;
    }
    return this.#next;
  }
}

function rememberName(names: Set<string>, literal: string, at: number): string {
  const name = literal.includes('\\') ? readString(literal) : literal.slice(1, -1);
  if (names.has(name)) {
    throw new Problem('invalid_json', {
      detail: `The JSON has a duplicate member at character ${at}.`,
    });
  }
  names.add(name);
  return name;
}

function readString(literal: string): string {
  try {
    return JSON.parse(literal) as string;
  } catch {
    throw new Problem('invalid_json');
  }
}

function refuseName(at: number): never {
  throw new Problem('invalid_json', {
    detail: `The JSON has a member with a reserved name at character ${at}.`,
  });
}

/** Possibly half a surrogate pair. Valid UTF-8 holds none that is not escaped. */
const halfPair = /\\u[dD][89a-fA-F]/;

function refuseLoneSurrogates(literal: string, at: number): void {
  if (!halfPair.test(literal) || readString(literal).isWellFormed()) return;
  throw new Problem('invalid_json', {
    detail: `The JSON has half a surrogate pair at character ${at}.`,
  });
}
