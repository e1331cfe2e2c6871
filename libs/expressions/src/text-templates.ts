import { JsonScanner } from './json-scanner';
import { Budget, Tally } from './limits';
import { render, writeText, type Write } from './render';
import type { Piece } from './pieces';
import { plainSyntax, SpanScanner } from './span-scanner';
import { tokenIdsOf, type Template } from './template';
import { toText } from './value-filters';

/**
 * A JSON document as text, changed only where expressions stand: a string that is exactly one
 * expression makes room for an object or array, everything else is text inside the string.
 */
export function jsonTemplate(text: string, tally = new Tally()): Template<string> {
  return fromPieces(new JsonScanner(tally).write(text, true), writeJson);
}

/** Text of no known structure, such as text/plain or XML: values are put in as they are. */
export function textTemplate(text: string, tally = new Tally()): Template<string> {
  return fromPieces(new SpanScanner(plainSyntax, tally).write(text, true), writeText);
}

/** Inside the quotes that are there, or with its own in their place. */
export const writeJson: Write = (value, isWholeValue) => {
  const isObject = typeof value === 'object' && value !== null;
  const json = JSON.stringify(isWholeValue && isObject ? value : toText(value));
  return isWholeValue ? json : json.slice(1, -1);
};

function fromPieces(pieces: readonly Piece[], write: Write): Template<string> {
  return {
    tokenIds: tokenIdsOf(pieces),
    render: (values, budget = new Budget()) => render(pieces, values, budget, write),
  };
}
