import { isAscii, isUtf8 } from 'node:buffer';
import { Problem } from '@glovebox/problems';
import { findFault, kindOf, placeIn } from './json-fault';
import { JsonScanner, type FreeMembers, type TokenReader } from './json-scanner';

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

/** A body of at most so many bytes may be read whole before anything of it is counted. */
const uncountedBytesMax = 128 * 1024;

/**
 * Parses JSON and refuses duplicate members, members that could reach a prototype, lone surrogates,
 * and more than JsonScanner allows. Throws a Problem that names the place, never the text.
 */
export class StrictJson {
  readonly #counter: JsonScanner;
  #bytes = 0;

  constructor(
    private readonly free: FreeMembers = [],
    private readonly rules: Pick<JsonRules, 'rounds'> = {},
  ) {
    this.#counter = new JsonScanner(free);
  }

  /**
   * Counts each part of a body as it arrives, so that too much is refused before it is kept. Names
   * are not compared before all of it is there: that would keep them while a caller takes its time.
   */
  readonly count = (chunk: Buffer): void => {
    // As Latin-1, a byte of a longer character is none that JSON is made of.
    this.#counter.scan(chunk.toString('latin1'), lengthOfMark(chunk, this.#bytes));
    this.#bytes += chunk.length;
  };

  /**
   * Parses the bytes, which were counted unless they are few. The longest part without a pause
   * takes 30 ms for 10 MiB.
   */
  *parse(bytes: Buffer): Slices<unknown> {
    const isCounted = this.#bytes === bytes.length;
    if (!isCounted && (this.#bytes > 0 || bytes.length > uncountedBytesMax)) {
      throw new Error('Parses only what was counted');
    }
    return yield* parseStrictJson(yield* decodeUtf8(bytes), { ...this.rules, free: this.free });
  }
}

/** Parses a text by the same rules. */
export function* parseStrictJson(text: string, rules: JsonRules = {}): Slices<unknown> {
  const reader = new StrictReader(text, rules);
  const scanner = new JsonScanner(rules.free ?? [], reader);
  try {
    for (let at = 0; at < text.length;) {
      at = scanner.scan(text, at, at + scannedAtOnce);
      if (at < text.length) yield;
    }
    return JSON.parse(reader.text) as unknown;
  } catch (error) {
    if (error instanceof Problem && error.detail !== undefined) throw error;
    const at = yield* findFault(text);
    throw new Problem('invalid_json', {
      detail: `Unexpected ${kindOf(text[at])} at ${placeIn(text, at)}.`,
    });
  }
}

const scannedAtOnce = 64 * 1024;
const decodedAtOnce = 256 * 1024;
const byteOrderMark = [0xef, 0xbb, 0xbf];

/** Bytes of a byte order mark at the beginning of a part, with so many bytes before it. */
function lengthOfMark(part: Buffer, before: number): number {
  let length = 0;
  while (before + length < 3 && part[length] === byteOrderMark[before + length]) length += 1;
  return length;
}

/** Drops a byte order mark. */
export function* decodeUtf8(bytes: Buffer): Slices<string> {
  if (!isUtf8(bytes)) {
    throw new Problem('invalid_json', { detail: 'The body is not valid UTF-8.' });
  }
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let text = '';
  for (let at = lengthOfMark(bytes, 0); at < bytes.length; at += decodedAtOnce) {
    const part = bytes.subarray(at, at + decodedAtOnce);
    text += isAscii(part) ? part.toString('latin1') : decoder.decode(part, { stream: true });
    if (at + decodedAtOnce < bytes.length) yield;
  }
  return text;
}

const minus = 0x2d;
const dot = 0x2e;
const zero = 0x30;
const nine = 0x39;

const isDigit = (code: number): boolean => code >= zero && code <= nine;

/** A number that can be kept exactly needs no more, unless it is padded with zeros. */
const jsonNumberCharactersMax = 400;

/** A double keeps so many decimal digits as they were. */
const exactDigits = 15;

const numberLiteral = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Makes the checks that need names and numbers, before JSON.parse builds anything. */
class StrictReader implements TokenReader {
  /** The names of each open object; null for a list. */
  readonly #names: (Set<string> | null)[] = [];
  readonly #parts: string[] = [];
  #replacedTo = 0;

  constructor(
    private readonly whole: string,
    private readonly rules: JsonRules,
  ) {}

  /** The text with its numbers replaced and all else unchanged, right or wrong. */
  get text(): string {
    const rest = this.#replacedTo;
    return rest === 0 ? this.whole : this.#parts.join('') + this.whole.slice(rest);
  }

  beginGroup(isObject: boolean): void {
    this.#names.push(isObject ? new Set() : null);
  }

  endGroup(): void {
    this.#names.pop();
  }

  readName(start: number, end: number, hasEscapes: boolean, isFree: boolean): void {
    const literal = this.whole.slice(start, end);
    if (hasEscapes && !isFree) this.#refuseLoneSurrogates(literal, start);
    const name = hasEscapes ? readString(literal) : literal.slice(1, -1);
    const names = this.#names.at(-1);
    if (names?.has(name)) {
      throw this.#wrong(start, 'has a duplicate member');
    }
    names?.add(name);
    if (isFree || !poisoned.has(name)) return;
    throw this.#wrong(start, 'has a member with a reserved name');
  }

  readText(start: number, end: number, hasEscapes: boolean, isFree: boolean): void {
    if (hasEscapes && !isFree) this.#refuseLoneSurrogates(this.whole.slice(start, end), start);
  }

  readWord(start: number, end: number, isFree: boolean, isInPlaceOfName: boolean): void {
    const { standIn, rounds = false } = this.rules;
    const isExact = isFree && !rounds;
    if (!standIn && !isExact) return;
    const code = this.whole.charCodeAt(start);
    if (code !== minus && !isDigit(code)) return;
    if (!standIn && this.#isShortNumber(start, end)) return;
    if (end - start > jsonNumberCharactersMax) {
      throw this.#wrong(start, `has a number of more than ${jsonNumberCharactersMax} characters`);
    }
    const literal = this.whole.slice(start, end);
    // JSON.parse refuses what is no number, where it stands.
    if (!numberLiteral.test(literal)) return;
    if (standIn) {
      // A string in its place would be a name.
      if (isInPlaceOfName) throw new Problem('invalid_json');
      this.#replace(start, literal, standIn);
    } else if (exactNumber(literal) === undefined) {
      throw this.#wrong(
        start,
        'has a number that cannot be kept exactly, and may be sent as a string,',
      );
    }
  }

  /** Names the place of a fault, and never the text. */
  #wrong(at: number, what: string): Problem {
    const detail = `The JSON ${what} at ${placeIn(this.whole, at)}.`;
    return new Problem('invalid_json', { detail });
  }

  #refuseLoneSurrogates(literal: string, at: number): void {
    if (!halfPair.test(literal) || readString(literal).isWellFormed()) return;
    throw this.#wrong(at, 'has half a surrogate pair');
  }

  #isShortNumber(start: number, end: number): boolean {
    if (end - start > exactDigits) return false;
    for (let at = start + 1; at < end; at += 1) {
      const code = this.whole.charCodeAt(at);
      if (!isDigit(code) && code !== dot) return false;
    }
    return true;
  }

  #replace(start: number, literal: string, standIn: (literal: string) => string): void {
    if (String(Number(literal)) === literal) return;
    this.#parts.push(this.whole.slice(this.#replacedTo, start), standIn(literal));
    this.#replacedTo = start + literal.length;
  }
}

/** The number that a literal stands for, or undefined if digits would be lost. */
export function exactNumber(literal: string): number | undefined {
  const number = Number(literal);
  const kept = String(number);
  return kept === literal || significance(literal) === significance(kept) ? number : undefined;
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

function readString(literal: string): string {
  try {
    return JSON.parse(literal) as string;
  } catch {
    throw new Problem('invalid_json');
  }
}

/** Possibly half a surrogate pair. Valid UTF-8 holds none that is not escaped. */
const halfPair = /\\u[dD][89a-fA-F]/;
