import type { Expression } from './expression';

/** An expression in its place. */
export interface Hole {
  readonly expression: Expression;
  /**
   * The expression is all that its JSON string holds, and the string is a value, not a member's
   * name.
   */
  readonly isWholeValue: boolean;
}

/** Text that stays as it is, or an expression. */
export type Piece = string | Hole;

/** Takes a text apart, at once or as it comes. */
export interface Scanner {
  /**
   * Returns the pieces that are certain. Text that the next chunk may change is held back until
   * `isLast`.
   */
  write(chunk: string, isLast: boolean): Piece[];
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Finds spans in one text from left to right. No part of it is searched twice. */
export class Finder {
  #next: Span | null | undefined;

  constructor(private readonly search: (from: number) => Span | null) {}

  from(at: number): Span | null {
    if (this.#next === undefined || (this.#next && this.#next.start < at)) {
      this.#next = this.search(at);
    }
    return this.#next;
  }
}

export function braces(text: string, pair: '{{' | '}}'): Finder {
  return new Finder((from) => {
    const start = text.indexOf(pair, from);
    return start < 0 ? null : { start, end: start + 2 };
  });
}
