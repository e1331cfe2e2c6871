import { expressionBytesMax, type Tally } from '../bounds/limits';
import { malformed, readExpression, tooLong } from './expression';
import { braces, Finder, type Hole, type Piece, type Scanner, type Span } from './template-pieces';

/**
 * Finds expressions in a JSON document, string by string. Braces that open in one string and close
 * in another enclose other people's data, not an expression. Only strings are looked at.
 */
export class JsonStringScanner implements Scanner {
  #held = '';
  #heldAt = 0;
  #isInString = false;
  /**
   * The start of an expression that is too long already. It is refused if it closes, or else plain
   * text.
   */
  #overlongAt: number | undefined;

  constructor(private readonly tally: Tally) {}

  write(chunk: string, isLast: boolean): Piece[] {
    const text = this.#held + chunk;
    const pass = new Pass(text, isLast);
    const settledTo = this.#walk(pass);
    if (settledTo > pass.plainFrom) pass.pieces.push(text.slice(pass.plainFrom, settledTo));
    this.#held = text.slice(settledTo);
    this.#heldAt += settledTo;
    return pass.pieces;
  }

  /** Goes from string to string. Returns the index up to which the text is settled. */
  #walk(pass: Pass): number {
    const { text, isLast } = pass;
    let quote = -1;
    let at = 0;
    for (;;) {
      if (!this.#isInString) {
        const open = pass.opens.from(at);
        if (!open && isLast) return text.length;
        quote = text.indexOf('"', at);
        if (open && (quote < 0 || open.start < quote)) {
          throw malformed(String(this.#heldAt + open.start), 'stands outside of a JSON string');
        }
        if (quote < 0) return isLast || !text.endsWith('{') ? text.length : text.length - 1;
        this.#isInString = true;
        at = quote + 1;
      }
      const close = endOfString(text, at);
      const undecidedAt = this.#scanString(pass, { quote, at, close });
      if (undecidedAt !== undefined) return this.#settle(undecidedAt, quote);
      if (close < 0) {
        const tailAt = isLast ? text.length : tailOf(text, Math.max(at, pass.plainFrom));
        return this.#settle(tailAt, quote);
      }
      this.#isInString = false;
      this.#overlongAt = undefined;
      at = close + 1;
    }
  }

  /** A string of which only the quote is settled is scanned again from its quote on. */
  #settle(at: number, quote: number): number {
    if (quote < 0 || at !== quote + 1) return at;
    this.#isInString = false;
    return quote;
  }

  /**
   * Scans the expressions of one string. Returns where to scan it again if the chunk ends within
   * one.
   */
  #scanString(pass: Pass, string: JsonString): number | undefined {
    const { text, isLast } = pass;
    const end = string.close < 0 ? text.length : string.close;
    let at = string.at;
    for (;;) {
      const open = this.#overlongAt === undefined ? pass.opens.from(at) : { start: at, end: at };
      if (!open || open.end > end) return undefined;
      const close = pass.closes.from(open.end);
      if (close && close.end <= end) {
        if (this.#overlongAt !== undefined) throw tooLong(String(this.#overlongAt));
        const after = this.#isWholeValue(pass, string, open, close);
        if (after === 'undecided') return open.start;
        this.#put(pass, open, close, after);
        at = close.end;
      } else if (string.close >= 0 || isLast || this.#overlongAt !== undefined) {
        return undefined;
      } else if (text.length - open.start > expressionBytesMax) {
        this.#overlongAt = this.#heldAt + open.start;
        at = open.end;
      } else {
        return open.start - (isEscaped(text, open.start, string.at) ? 1 : 0);
      }
    }
  }

  #isWholeValue(
    { text, isLast }: Pass,
    { quote, close: stringEnd }: JsonString,
    open: Span,
    close: Span,
  ): boolean | 'undecided' {
    if (quote < 0 || open.start !== quote + 1) return false;
    if (close.end === text.length && !isLast) return 'undecided';
    if (close.end !== stringEnd) return false;
    const next = indexOfNext(text, stringEnd + 1);
    if (next < text.length || isLast) return text[next] !== ':';
    if (next - stringEnd > expressionBytesMax) {
      throw malformed(String(this.#heldAt + open.start), 'is followed by too much white space');
    }
    return 'undecided';
  }

  #put(pass: Pass, open: Span, close: Span, isWholeValue: boolean): void {
    const quotes = isWholeValue ? 1 : 0;
    const start = open.start - quotes;
    if (start > pass.plainFrom) pass.pieces.push(pass.text.slice(pass.plainFrom, start));
    pass.pieces.push(this.#hole(pass.text, open, close, isWholeValue));
    pass.plainFrom = close.end + quotes;
  }

  #hole(text: string, open: Span, close: Span, isWholeValue: boolean): Hole {
    const place = String(this.#heldAt + open.start);
    // The backslash would take the first character of the value, and could free one of its quotes.
    if (isEscaped(text, open.start, 0)) throw malformed(place, 'follows half an escape');
    const expression = readExpression({
      marked: text.slice(open.start, close.end),
      inner: unescape(text.slice(open.end, close.start)),
      place,
      root: 'token',
    });
    this.tally.add(expression);
    return { expression, isWholeValue };
  }
}

/** One chunk, with the text held back from those before it. */
class Pass {
  readonly pieces: Piece[] = [];
  plainFrom = 0;
  readonly opens: Finder;
  readonly closes: Finder;

  constructor(
    readonly text: string,
    readonly isLast: boolean,
  ) {
    this.opens = braces(text, '{{');
    this.closes = braces(text, '}}');
  }
}

interface JsonString {
  /** Its opening quote; -1 if it was in an earlier chunk. */
  readonly quote: number;
  readonly at: number;
  /** Its closing quote; -1 if it has not come. */
  readonly close: number;
}

/** The closing quote of a string whose text begins at `from`; -1 if there is none. */
function endOfString(text: string, from: number): number {
  let quote = text.indexOf('"', from);
  while (quote >= 0 && isEscaped(text, quote, from)) quote = text.indexOf('"', quote + 1);
  return quote;
}

/** True after an odd number of backslashes. */
function isEscaped(text: string, at: number, from: number): boolean {
  let start = at;
  while (start > from && text.charCodeAt(start - 1) === 0x5c) start -= 1;
  return (at - start) % 2 === 1;
}

/**
 * Half an escape and the first of two braces are scanned again with the chunk that completes them.
 */
function tailOf(text: string, from: number): number {
  const last = text.length - 1;
  if (last < from) return text.length;
  if (isEscaped(text, text.length, from)) return last;
  if (text[last] !== '{' && text[last] !== '}') return text.length;
  return isEscaped(text, last, from) ? last - 1 : last;
}

function indexOfNext(text: string, from: number): number {
  const visible = /[^ \t\n\r]/g;
  visible.lastIndex = from;
  return visible.exec(text)?.index ?? text.length;
}

function unescape(inner: string): string | undefined {
  if (!inner.includes('\\')) return inner;
  try {
    return String(JSON.parse(`"${inner}"`));
  } catch {
    return undefined;
  }
}
