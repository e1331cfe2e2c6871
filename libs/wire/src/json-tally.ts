import { Problem } from '@glovebox/problems';

/** The members of a document, or all of it, that hold the customer's own JSON, with any names. */
export type FreeMembers = readonly string[] | 'all';

export const jsonDepthMax = 64;
/** Members of one object that is not the customer's own. None of ours has nearly as many. */
const jsonMembersMax = 10_000;
/** A parsed value costs far more than its bytes: `[[],[],…]` consists of values alone. */
export const jsonValuesMax = 100_000;

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const byteOrderMark = [0xef, 0xbb, 0xbf];

/** Stands for a list where an object has its number of members. */
const list = -1;

/**
 * Counts values, members and levels of JSON while its bytes arrive, in pieces of any size. A document
 * that holds too much is refused before the rest of it is read. The tally does not check that the bytes
 * are JSON.
 */
export class JsonTally {
  #bytes = 0;
  #values = 0;
  #within: 'nothing' | 'text' | 'word' = 'nothing';
  #isEscaped = false;
  #isName = false;
  #expectsName = false;
  #isFree: boolean;
  /** The number of members of each open object. */
  readonly #open: number[] = [];
  /** The name of a member of the document, as far as it has been read. */
  #name: number[] | undefined;
  readonly #nameBytesMax: number;

  constructor(private readonly free: FreeMembers) {
    this.#isFree = free === 'all';
    // A character may take six bytes: \u0061.
    const longest = free === 'all' ? 0 : Math.max(0, ...free.map((name) => name.length));
    this.#nameBytesMax = 6 * longest;
  }

  /** The number of bytes that were counted. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Throws a Problem as soon as the document holds too much. */
  add(chunk: Uint8Array): void {
    let at = this.#pastMark(chunk);
    while (at < chunk.length) {
      if (this.#within === 'text') at = this.#endOfText(chunk, at);
      else if (this.#within === 'word') at = this.#endOfWord(chunk, at);
      else {
        const code = chunk[at] ?? 0;
        if (code !== colon && !isBlank(code)) this.#meet(code);
        at += 1;
      }
    }
    this.#bytes += chunk.length;
  }

  /** Skips a byte order mark at the beginning, as the decoder does. */
  #pastMark(chunk: Uint8Array): number {
    let at = 0;
    while (this.#bytes + at < 3 && chunk[at] === byteOrderMark[this.#bytes + at]) at += 1;
    return at;
  }

  #meet(code: number): void {
    switch (code) {
      case comma:
        this.#expectsName = this.#open.length > 0 && this.#open.at(-1) !== list;
        return;
      case quote:
        return this.#beginText();
      case openBrace:
      case openBracket:
        return this.#beginGroup(code === openBrace);
      case closeBrace:
      case closeBracket:
        this.#open.pop();
        return;
      default:
        this.#within = 'word';
        this.#countValue();
    }
  }

  #beginGroup(isObject: boolean): void {
    this.#open.push(isObject ? 0 : list);
    this.#expectsName = isObject;
    if (this.#open.length > jsonDepthMax) {
      throw tooMuch(`The JSON is nested deeper than ${jsonDepthMax} levels.`);
    }
    this.#countValue();
  }

  #beginText(): void {
    this.#within = 'text';
    const members = this.#open.at(-1) ?? list;
    this.#isName = this.#expectsName && members !== list;
    if (!this.#isName) return this.#countValue();
    this.#expectsName = false;
    if (this.#open.length === 1) {
      this.#isFree = this.free === 'all';
      this.#name = [];
    }
    this.#open[this.#open.length - 1] = members + 1;
    if (!this.#isFree && members >= jsonMembersMax) {
      throw tooMuch(`The JSON has an object of more than ${jsonMembersMax} members.`);
    }
  }

  #endOfText(chunk: Uint8Array, from: number): number {
    let at = this.#isEscaped ? from + 1 : from;
    for (let plain = 0; at < chunk.length && chunk[at] !== quote;) {
      const isEscape = chunk[at] === backslash;
      at += isEscape ? 2 : 1;
      plain = isEscape ? 0 : plain + 1;
      if (plain !== steps) continue;
      at = endOfPlain(chunk, at);
      plain = 0;
    }
    // The character after a backslash may be in the next piece.
    this.#isEscaped = at > chunk.length;
    if (this.#name) this.#keepOfName(chunk.subarray(from, at));
    if (at >= chunk.length) return chunk.length;
    this.#within = 'nothing';
    if (this.#name) this.#endOfName(this.#name);
    return at + 1;
  }

  #keepOfName(part: Uint8Array): void {
    const { length = 0 } = this.#name ?? {};
    this.#name?.push(...part.subarray(0, this.#nameBytesMax + 1 - length));
  }

  #endOfName(bytes: readonly number[]): void {
    this.#name = undefined;
    if (this.free === 'all' || bytes.length > this.#nameBytesMax) return;
    this.#isFree = this.free.includes(nameOf(Buffer.from(bytes).toString('latin1')));
  }

  #endOfWord(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      if (!endsWord[chunk[at] ?? 0]) continue;
      this.#within = 'nothing';
      return at;
    }
    return chunk.length;
  }

  #countValue(): void {
    this.#values += 1;
    if (this.#values > jsonValuesMax) {
      throw tooMuch(`The JSON holds more than ${jsonValuesMax} values, lists and objects.`);
    }
  }
}

/** After so many plain characters, a search with indexOf is cheaper than a look at each of them. */
const steps = 32;
const searchedAtOnce = 4 * 1024;

/** The place of the next quote or backslash, or one before which there is neither. */
function endOfPlain(chunk: Uint8Array, from: number): number {
  const part = chunk.subarray(from, from + searchedAtOnce);
  const ends = [part.indexOf(quote), part.indexOf(backslash)].filter((at) => at >= 0);
  return from + Math.min(part.length, ...ends);
}

const isBlank = (code: number): boolean =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

const wordEnds = new Set([comma, closeBracket, closeBrace, quote, 0x20, 0x0a, 0x0d, 0x09]);
const endsWord = Array.from({ length: 256 }, (_, code) => wordEnds.has(code));

function nameOf(text: string): string {
  if (!text.includes('\\')) return text;
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text;
  }
}

const tooMuch = (detail: string): Problem => new Problem('invalid_json', { detail });
