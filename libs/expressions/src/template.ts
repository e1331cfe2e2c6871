import type { Budget } from './limits';
import type { Piece } from './pieces';
import type { Values } from './render';

/** A text or value with holes in it: which tokens it asks for, and what it is once they are known. */
export interface Template<Result> {
  readonly tokenIds: readonly string[];
  /** A request of several templates gives each the same budget. */
  render(values: Values, budget?: Budget): Result;
}

export function tokenIdsOf(pieces: readonly Piece[]): string[] {
  const ids = pieces.map((piece) => (typeof piece === 'string' ? [] : piece.expression.tokenId));
  return [...new Set(ids.flat())];
}
