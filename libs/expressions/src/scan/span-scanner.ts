import { expressionBytesMax, type Tally } from '../bounds/limits';
import { malformed, readExpression, tooLong, type ExpressionRoot } from './expression';
import { braces, Finder, type Hole, type Piece, type Scanner, type Span } from './template-pieces';

/** The way in which expressions are written in a kind of text. */
export interface Syntax {
  readonly root: ExpressionRoot;
  opens(text: string): Finder;
  closes(text: string): Finder;
  /** Braces with this between them belong to different fields and enclose nothing. */
  readonly boundary: string | undefined;
  /** Characters at the end of a chunk that are scanned again with the next. */
  readonly tailLength: number;
  /** Decodes the inner text as the context is read. Undefined if it cannot be decoded. */
  decode(inner: string): string | undefined;
  /** An end that would join with a value to something else, such as the `%` of half an escape. */
  readonly danglingEnd: RegExp | undefined;
}

export const plainSyntax: Syntax = {
  root: 'token',
  opens: (text) => braces(text, '{{'),
  closes: (text) => braces(text, '}}'),
  boundary: undefined,
  tailLength: 1,
  decode: (inner) => inner,
  danglingEnd: undefined,
};

/** Finds expressions in a text that has no structure, or only fields side by side. */
export class SpanScanner implements Scanner {
  #held = '';
  #heldAt = 0;
  /**
   * The start of an expression that is too long already. It is refused if it closes, or else plain
   * text.
   */
  #overlongAt: number | undefined;

  constructor(
    private readonly syntax: Syntax,
    private readonly tally: Tally,
    /** Returns the path to this text in a larger document; empty if there is none. */
    private readonly documentPath: () => string = () => '',
  ) {}

  write(chunk: string, isLast: boolean): Piece[] {
    const text = this.#held + chunk;
    const { pieces, plainFrom, settledTo } = this.#scan(text, isLast);
    if (settledTo > plainFrom) pieces.push(text.slice(plainFrom, settledTo));
    this.#held = text.slice(settledTo);
    this.#heldAt += settledTo;
    return pieces;
  }

  #scan(text: string, isLast: boolean): { pieces: Piece[]; plainFrom: number; settledTo: number } {
    const opens = this.syntax.opens(text);
    const closes = this.syntax.closes(text);
    const fieldEnds = boundaries(text, this.syntax.boundary);
    const pieces: Piece[] = [];
    let plainFrom = 0;
    let at = 0;
    for (;;) {
      const open = this.#overlongAt === undefined ? opens.from(at) : { start: at, end: at };
      if (!open) break;
      const close = closes.from(open.end);
      const fieldEnd = fieldEnds.from(open.end);
      if (close && (!fieldEnd || close.start < fieldEnd.start)) {
        if (this.#overlongAt !== undefined) throw tooLong(this.#place(this.#overlongAt));
        if (open.start > plainFrom) pieces.push(text.slice(plainFrom, open.start));
        pieces.push(this.#hole(text, plainFrom, open, close));
        plainFrom = at = close.end;
      } else if (fieldEnd) {
        this.#overlongAt = undefined;
        at = fieldEnd.end;
      } else if (isLast || this.#overlongAt !== undefined) {
        break;
      } else if (text.length - open.start > expressionBytesMax) {
        this.#overlongAt = this.#heldAt + open.start;
        at = open.end;
      } else {
        const settledTo = open.start - (this.syntax.danglingEnd ? danglingLengthMax : 0);
        return { pieces, plainFrom, settledTo: Math.max(plainFrom, settledTo) };
      }
    }
    const tailAt = isLast ? text.length : text.length - this.syntax.tailLength;
    return { pieces, plainFrom, settledTo: Math.max(plainFrom, at, tailAt) };
  }

  #hole(text: string, plainFrom: number, open: Span, close: Span): Hole {
    const place = this.#place(this.#heldAt + open.start);
    const before = text.slice(Math.max(plainFrom, open.start - danglingLengthMax), open.start);
    if (this.syntax.danglingEnd?.test(before)) {
      throw malformed(place, 'follows half an escape');
    }
    const expression = readExpression({
      marked: text.slice(open.start, close.end),
      inner: this.syntax.decode(text.slice(open.end, close.start)),
      place,
      root: this.syntax.root,
    });
    this.tally.add(expression);
    return { expression, isWholeValue: false };
  }

  #place(position: number): string {
    const path = this.documentPath();
    return path === '' ? String(position) : `${position} of ${path}`;
  }
}

const danglingLengthMax = 2;

function boundaries(text: string, boundary: string | undefined): Finder {
  return new Finder((from) => {
    const start = boundary === undefined ? -1 : text.indexOf(boundary, from);
    return start < 0 ? null : { start, end: start + 1 };
  });
}
