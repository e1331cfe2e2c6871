import type { Locking, PreparedStatement } from '@glovebox/database';

/** The columns that name a claim. */
export interface Claim {
  readonly id: string;
  readonly fence: string | number;
}

export interface OwnedClaim extends Claim {
  readonly tenantId: string;
}

/** What a claim takes in a statement, about. */
export const claimBytes = 500;

/**
 * Finds the claims of $1 and $2 that still hold, with their numbers, and locks their rows. A
 * subquery for each of them keeps Postgres to looking up its id.
 */
export const claimsHeld =
  (table: string, condition = 'true') =>
  (locking: Locking): string =>
    `
    mine AS MATERIALIZED (
      SELECT held.id, claim.nth
      FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY AS claim (id, fence, nth)
      CROSS JOIN LATERAL (
        SELECT id FROM ${table} WHERE id = claim.id AND fence = claim.fence AND ${condition}
        ${locking}) held)`;

/** The parameters that name claims. */
export const claimsOf = (claims: readonly Claim[]): readonly unknown[] => [
  claims.map(({ id }) => id),
  claims.map(({ fence }) => fence),
];

/** A row that says to which claim it belongs. The first one has the number 1. */
export interface Numbered {
  readonly nth: number;
}

/** The answers to claims that hold, in the order of all claims. */
export function answersOf<Row extends Numbered, Answer>(
  claims: readonly Claim[],
  rows: readonly Row[],
  answerOf: (row: Row) => Answer,
): (Answer | undefined)[] {
  const answers = new Array<Answer | undefined>(claims.length).fill(undefined);
  for (const row of rows) answers[row.nth - 1] = answerOf(row);
  return answers;
}

/** A statement in both ways to take its rows. */
export const lockable = (
  name: string,
  text: (locking: Locking) => string,
): Readonly<Record<Locking, PreparedStatement>> => ({
  'FOR UPDATE SKIP LOCKED': { name, text: text('FOR UPDATE SKIP LOCKED') },
  'FOR UPDATE': { name: `${name}-alone`, text: text('FOR UPDATE') },
});
