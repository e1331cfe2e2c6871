import type { Budget } from '../bounds/limits';
import type { Work } from '../bounds/time-slices';
import { toText } from '../filters/value-filters';
import type { Expression } from '../scan/expression';
import type { Piece } from '../scan/template-pieces';

/** Values by token id. The caller must provide all that a template needs. */
export type Values = ReadonlyMap<string, unknown>;

export function evaluate(expression: Expression, values: Values, budget: Budget): Work<unknown> {
  return expression.evaluate(valueOf(expression, values), budget);
}

function valueOf({ tokenId }: Expression, values: Values): unknown {
  if (!values.has(tokenId)) {
    throw new Error('A template was rendered without one of its tokens');
  }
  return values.get(tokenId);
}

/** Writes a value in its context so that it cannot leave its place. */
export type Write = (value: unknown, isWholeValue: boolean) => string;

/** Writes inside the existing quotes, or with quotes of its own in their place. */
export const writeJson: Write = (value, isWholeValue) => {
  const isObject = typeof value === 'object' && value !== null;
  const json = JSON.stringify(isWholeValue && isObject ? value : toText(value));
  return isWholeValue ? json : json.slice(1, -1);
};

/** Half a surrogate pair has no bytes: it becomes U+FFFD before it can join with another half. */
export const writeText: Write = (value) => toText(value).toWellFormed();

export const writeEncoded: Write = (value) => encodeURIComponent(writeText(value, false));

/** Returns the text of each piece, in order. Hot path: an expression alone takes no generator. */
export function* renderEach(
  pieces: readonly Piece[],
  values: Values,
  budget: Budget,
  write: Write,
): Work<string[]> {
  // A large value that stands a thousand times in a body is written out once.
  const wholeValues = new Map<string, string>();
  const parts = new Map<string, string>();
  const texts: string[] = [];
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      texts.push(piece);
      continue;
    }
    const { expression, isWholeValue } = piece;
    const written = isWholeValue ? wholeValues : parts;
    let text = written.get(expression.source);
    if (text === undefined) {
      const value = expression.isPlain
        ? valueOf(expression, values)
        : yield* evaluate(expression, values, budget);
      yield;
      budget.observers.onFilledIn?.(expression.source, value);
      text = write(value, isWholeValue);
      written.set(expression.source, text);
      yield;
    }
    texts.push(budget.spend(text));
  }
  return texts;
}

/** Returns the texts of all pieces as one. */
export function* filledText(
  pieces: readonly Piece[],
  values: Values,
  budget: Budget,
  write: Write,
): Work<string> {
  return (yield* renderEach(pieces, values, budget, write)).join('');
}
