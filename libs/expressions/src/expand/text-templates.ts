import { Problem } from '@glovebox/problems';
import { Tally, type Budget } from '../bounds/limits';
import type { Work } from '../bounds/time-slices';
import { formSyntax, overBytes, pathSyntax } from '../scan/encoded-syntax';
import { plainSyntax, SpanScanner, type Syntax } from '../scan/span-scanner';
import type { Piece } from '../scan/template-pieces';
import { filledText, renderEach, writeEncoded, writeText, type Values } from './render';
import { templateFrom, tokenIdsOf, type Template } from './template';

/** Reads a query without its `?`. */
export function queryTemplate(text: string, tally = new Tally()): Template<string> {
  return fromPieces(spansOf(text, formSyntax, tally));
}

/**
 * Reads a path without its query. A value keeps to its segment, since its slashes are encoded. But
 * `..` is a segment that climbs, so the result must be checked like any path of a caller.
 */
export function pathTemplate(text: string, tally = new Tally()): Template<string> {
  return fromPieces(spansOf(text, pathSyntax, tally));
}

/**
 * Reads name, value, name, value as Node.js does: one character per byte. Names are not expanded.
 */
export function headerTemplate(
  rawHeaders: readonly string[],
  tally = new Tally(),
): Template<string[]> {
  const pieceLists = rawHeaders.map((text, i) =>
    i % 2 === 1 && text.includes('{{') ? spansOf(text, overBytes(plainSyntax), tally) : [text],
  );
  return templateFrom(tokenIdsOf(pieceLists.flat()), (values, budget) =>
    filledHeaders(pieceLists, values, budget),
  );
}

function* filledHeaders(
  pieceLists: readonly (readonly Piece[])[],
  values: Values,
  budget: Budget,
): Work<string[]> {
  const filled: string[] = [];
  for (const pieces of pieceLists) {
    const parts = yield* renderEach(pieces, values, budget, writeHeader);
    const bytes = parts.map((part, i) => (typeof pieces[i] === 'string' ? part : bytesOf(part)));
    filled.push(bytes.join(''));
  }
  return filled;
}

function writeHeader(value: unknown): string {
  const text = writeText(value, false);
  if (/\p{Cc}/u.test(text)) {
    throw new Problem('invalid_request', {
      detail: 'A value for a header holds a control character.',
    });
  }
  return text;
}

function bytesOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function spansOf(text: string, syntax: Syntax, tally: Tally): Piece[] {
  return new SpanScanner(syntax, tally).write(text, true);
}

function fromPieces(pieces: readonly Piece[]): Template<string> {
  return templateFrom(tokenIdsOf(pieces), (values, budget) =>
    filledText(pieces, values, budget, writeEncoded),
  );
}
