import type { Budget } from '../bounds/limits';
import type { Work } from '../bounds/time-slices';
import { toText } from '../filters/value-filters';
import type { Expression } from '../scan/expression';
import type { Hole, Piece } from '../scan/template-pieces';

/** Values by token id. The caller must provide all that a template needs. */
export type Values = ReadonlyMap<string, unknown>;

export function evaluate(expression: Expression, values: Values, budget: Budget): Work<unknown> {
  if (!values.has(expression.tokenId)) {
    throw new Error('A template was rendered without one of its tokens');
  }
  return expression.evaluate(values.get(expression.tokenId), budget);
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

/** Returns the text of each piece, in order. */
export function* renderEach(
  pieces: readonly Piece[],
  values: Values,
  budget: Budget,
  write: Write,
): Work<string[]> {
  const written = new Map<string, string>();
  function* textOf(hole: Hole): Work<string> {
    // A large value that stands a thousand times in a body is written out once.
    const key = `${hole.isWholeValue ? 'whole' : 'part'} ${hole.expression.source}`;
    const before = written.get(key);
    if (before !== undefined) return before;
    const value = yield* evaluate(hole.expression, values, budget);
    yield;
    const text = write(value, hole.isWholeValue);
    written.set(key, text);
    yield;
    return text;
  }
  const texts: string[] = [];
  for (const piece of pieces) {
    texts.push(typeof piece === 'string' ? piece : budget.spend(yield* textOf(piece)));
  }
  return texts;
}
