import { Problem } from '@glovebox/problems';

/** The members of a document, or all of it, that hold the customer's own JSON, with any names. */
export type FreeMembers = readonly string[] | 'all';

export const jsonDepthMax = 64;
/** Members of one object that is not the customer's own. None of ours has nearly as many. */
const jsonMembersMax = 10_000;
/** A parsed value costs far more than its bytes: `[[],[],…]` consists of values alone. */
export const jsonValuesMax = 100_000;

/** Is told of each token, where the whole text is known. Places are indices in the text. */
export interface TokenReader {
  beginGroup(isObject: boolean): void;
  endGroup(): void;
  /** A string with its quotes. `isFree` tells whether it is the customer's own. */
  readName(start: number, end: number, hasEscapes: boolean, isFree: boolean): void;
  readText(start: number, end: number, hasEscapes: boolean, isFree: boolean): void;
  /** A number, `true`, `false`, `null` or what is no JSON. */
  readWord(start: number, end: number, isFree: boolean, isInPlaceOfName: boolean): void;
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Stands for a list where an object has its number of members. */
const list = -1;

/**
 * Goes through JSON from token to token, and refuses a document that holds too many values, members
 * or levels as soon as it does. Without a reader it takes the text in parts of any size and keeps
 * none of it. It does not check that the text is JSON: JSON.parse does. Hot path: reads char codes.
 */
export class JsonScanner {
  #values = 0;
  /** The number of members of each open object. */
  readonly #open: number[] = [];
  #expectsName = false;
  #isFree: boolean;
  /** The token that the end of a part cut. */
  #cut: 'string' | 'word' | undefined;
  #isEscaped = false;
  /** The name of a member of the document, as far as it has been read and may be a free one. */
  #name: string | undefined;
  readonly #nameMax: number;
  /** Found places of the part, so that none of it is searched twice. */
  #nextEscape = -1;
  #nextQuote = -1;

  constructor(
    private readonly free: FreeMembers,
    private readonly reader?: TokenReader,
  ) {
    this.#isFree = free === 'all';
    // A character may take six: \u0061. The quotes take two.
    this.#nameMax = free === 'all' ? 0 : 6 * Math.max(0, ...free.map((name) => name.length)) + 2;
  }

  /**
   * Scans a part from one place until another. Returns the place behind the last token, which may
   * be further on.
   */
  scan(part: string, from = 0, until = part.length): number {
    const end = Math.min(until, part.length);
    if (from === 0) this.#nextEscape = this.#nextQuote = -1;
    let at = this.#cut === undefined ? from : this.#endOfCut(part);
    while (at < end) {
      const code = part.charCodeAt(at);
      switch (code) {
        case 0x20:
        case 0x0a:
        case 0x0d:
        case 0x09:
        case colon:
          at += 1;
          break;
        case comma:
          this.#expectsName = this.#open.length > 0 && this.#open[this.#open.length - 1] !== list;
          at += 1;
          break;
        case quote:
          at = this.#string(part, at);
          break;
        case openBrace:
        case openBracket:
          this.#beginGroup(code === openBrace);
          at += 1;
          break;
        case closeBrace:
        case closeBracket:
          this.#open.pop();
          this.reader?.endGroup();
          at += 1;
          break;
        default:
          this.#countValue();
          at = this.#word(part, at);
      }
    }
    return at;
  }

  #beginGroup(isObject: boolean): void {
    this.#open.push(isObject ? 0 : list);
    this.#expectsName = isObject;
    if (this.#open.length > jsonDepthMax) {
      throw tooMuch(`The JSON is nested deeper than ${jsonDepthMax} levels.`);
    }
    this.#countValue();
    this.reader?.beginGroup(isObject);
  }

  #string(part: string, start: number): number {
    const members = this.#open[this.#open.length - 1] ?? list;
    const isName = this.#expectsName && members !== list;
    if (isName) this.#beginName(members);
    else this.#countValue();
    const end = this.#endOfString(part, start + 1);
    if (this.#name !== undefined) this.#keepOfName(part, start, end);
    if (end > part.length) return this.#cutAt(part, 'string');
    if (this.reader) {
      const hasEscapes = this.#escapeFrom(part, start) < end;
      if (isName) this.reader.readName(start, end, hasEscapes, this.#isFree);
      else this.reader.readText(start, end, hasEscapes, this.#isFree);
    }
    if (this.#name !== undefined) this.#endOfName();
    return end;
  }

  #beginName(members: number): void {
    this.#expectsName = false;
    const isOfDocument = this.#open.length === 1 && this.free !== 'all';
    if (isOfDocument) {
      this.#isFree = false;
      this.#name = '';
    }
    this.#open[this.#open.length - 1] = members + 1;
    const membersMax = this.#isFree ? jsonValuesMax : jsonMembersMax;
    if (members >= membersMax) {
      throw tooMuch(`The JSON has an object of more than ${membersMax} members.`);
    }
  }

  #keepOfName(part: string, start: number, end: number): void {
    const name = this.#name ?? '';
    this.#name = name + part.slice(start, Math.min(end, start + this.#nameMax + 1 - name.length));
  }

  #endOfName(): void {
    const literal = this.#name ?? '';
    this.#name = undefined;
    this.#isFree = literal.length <= this.#nameMax && this.free.includes(nameOf(literal));
  }

  #word(part: string, start: number): number {
    const end = endOfWord(part, start);
    if (!this.reader) return end < part.length ? end : this.#cutAt(part, 'word');
    this.reader.readWord(start, end, this.#isFree, this.#expectsName);
    return end;
  }

  #cutAt(part: string, token: 'string' | 'word'): number {
    if (this.reader) throw new Problem('invalid_json');
    this.#cut = token;
    return part.length;
  }

  /** The end of a token that began in an earlier part. */
  #endOfCut(part: string): number {
    if (this.#cut === 'word') {
      const end = endOfWord(part, 0);
      if (end < part.length) this.#cut = undefined;
      return end;
    }
    const end = this.#endOfString(part, this.#isEscaped ? 1 : 0);
    if (this.#name !== undefined) this.#keepOfName(part, 0, end);
    if (end > part.length) return part.length;
    this.#cut = undefined;
    if (this.#name !== undefined) this.#endOfName();
    return end;
  }

  /** The place behind the closing quote, or one beyond the part if there is none. */
  #endOfString(part: string, from: number): number {
    let at = from;
    for (let plain = 0; at < part.length; at += 1) {
      const code = part.charCodeAt(at);
      if (code === quote) return at + 1;
      plain += 1;
      if (code === backslash) {
        at += 1;
        plain = 0;
      } else if (plain === steps) {
        at = this.#endOfPlain(part, at + 1) - 1;
        plain = 0;
      }
    }
    // The character behind a backslash may be in the next part.
    this.#isEscaped = at === part.length + 1 || from > part.length;
    return part.length + 1;
  }

  /** The place of the next quote or backslash. */
  #endOfPlain(part: string, from: number): number {
    if (this.#nextQuote < from) this.#nextQuote = indexOf(part, '"', from);
    return Math.min(this.#nextQuote, this.#escapeFrom(part, from));
  }

  #escapeFrom(part: string, from: number): number {
    if (this.#nextEscape < from) this.#nextEscape = indexOf(part, '\\', from);
    return this.#nextEscape;
  }

  #countValue(): void {
    this.#values += 1;
    if (this.#values > jsonValuesMax) {
      throw tooMuch(`The JSON holds more than ${jsonValuesMax} values, lists and objects.`);
    }
  }
}

/** After so many plain characters, a search with indexOf is cheaper than a look at each of them. */
const steps = 16;

function indexOf(part: string, character: string, from: number): number {
  const at = part.indexOf(character, from);
  return at < 0 ? Infinity : at;
}

const wordEnds = new Set([comma, closeBracket, closeBrace, quote, 0x20, 0x0a, 0x0d, 0x09]);
const endsWord = Uint8Array.from({ length: 128 }, (_, code) => Number(wordEnds.has(code)));

function endOfWord(part: string, from: number): number {
  let at = from;
  while (at < part.length && endsWord[part.charCodeAt(at)] !== 1) at += 1;
  return at;
}

function nameOf(literal: string): string {
  if (!literal.includes('\\')) return literal.slice(1, -1);
  try {
    return JSON.parse(literal) as string;
  } catch {
    return literal;
  }
}

const tooMuch = (detail: string): Problem => new Problem('invalid_json', { detail });
