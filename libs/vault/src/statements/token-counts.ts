import type { Sql } from '@glovebox/database';
import type { Condition } from '../search-query';
import { conditionSql, coveredSql, Values, type Wanted } from './token-conditions';

/** Tokens of one container and type. */
export interface TokenGroup {
  readonly container: string;
  readonly type: string;
}

interface TokenCounts {
  readonly items: number;
  readonly groups: readonly TokenGroup[];
  /** The tenant has no other tokens. */
  readonly isWhole: boolean;
}

/** A tenant's kept counts are read up to this number. A tenant with more has its lists counted. */
const keptCountsMax = 10_000;

/** Tokens are counted by container and type: such a condition is answered by the counts alone. */
export function isKept(condition: Condition): boolean {
  switch (condition.kind) {
    case 'all':
    case 'any':
      return condition.of.every(isKept);
    case 'not':
      return isKept(condition.of);
    case 'equals':
      return condition.column === 'type';
    case 'container':
      return true;
    case 'data':
    case 'metadata':
      return false;
  }
}

/**
 * Adds up the kept counts that the grants and the condition cover, and names up to `groupsMax` of
 * their groups. Tokens that have expired are counted until they are removed.
 */
export async function readCounts(
  sql: Sql,
  wanted: Wanted,
  groupsMax: number,
): Promise<TokenCounts | undefined> {
  const values = new Values(wanted.tenantId);
  const covered = coveredSql(wanted.grants, values);
  const condition = await conditionSql(wanted.condition, { ...wanted, values });
  const [found] = await sql.query<TokenCounts & { readonly kept: number }>(
    `WITH kept AS MATERIALIZED (
       SELECT container, type, count FROM token_counts
       WHERE tenant_id = $1 LIMIT ${keptCountsMax + 1}
     ), covered AS (
       SELECT container, type, sum(count) AS count FROM kept t
       WHERE ${covered} AND ${condition} GROUP BY container, type
     )
     SELECT (SELECT count(*)::int FROM kept) AS kept,
       coalesce((SELECT sum(count)::float8 FROM covered), 0) AS items,
       (SELECT sum(count) FROM covered) = (SELECT sum(count) FROM kept) AS "isWhole",
       (SELECT coalesce(json_agg(g), '[]') FROM (
          SELECT container, type FROM covered LIMIT ${groupsMax}) g) AS groups`,
    values.all,
  );
  return found && found.kept <= keptCountsMax ? found : undefined;
}
