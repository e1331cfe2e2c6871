import { Budget } from '../bounds/limits';
import { atOnce, inSlices, type Work } from '../bounds/time-slices';
import type { Piece } from '../scan/template-pieces';
import type { Values } from './render';

/** A text or value with holes: the tokens it needs, and the result once their values are known. */
export interface Template<Result> {
  readonly tokenIds: readonly string[];
  /** Give all templates of a request the same budget. */
  render(values: Values, budget?: Budget): Result;
  /** For values of any size: the process does other work in between. */
  renderInSlices(values: Values, budget?: Budget): Promise<Result>;
}

export function templateFrom<Result>(
  tokenIds: readonly string[],
  work: (values: Values, budget: Budget) => Work<Result>,
): Template<Result> {
  return {
    tokenIds,
    render: (values, budget = new Budget()) => atOnce(work(values, budget)),
    renderInSlices: (values, budget = new Budget()) =>
      inSlices(work(values, budget), budget.takeTurn),
  };
}

export function tokenIdsOf(pieces: readonly Piece[]): string[] {
  const ids = pieces.map((piece) => (typeof piece === 'string' ? [] : piece.expression.tokenId));
  return [...new Set(ids.flat())];
}
