import type { Sql } from '@glovebox/database';
import type { Condition } from '../search/search-query';
import { conditionSql, coveredSql, StatementValues, type TokenQuery } from './token-conditions';

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
 * Goes from group to group in the index. Tokens are found without a count: a count that is missing
 * hides none of them.
 */
const allGroups = `
  (SELECT container, type FROM tokens WHERE tenant_id = $1 ORDER BY container, type LIMIT 1)
  UNION ALL
  SELECT next.container, next.type FROM all_groups one, LATERAL (
    SELECT n.container, n.type FROM tokens n
    WHERE n.tenant_id = $1 AND (n.container, n.type) > (one.container, one.type)
    ORDER BY n.container, n.type LIMIT 1) next`;

/**
 * Names up to `groupsMax` of the groups that the grants and the condition cover, and adds up their
 * kept counts. Tokens that have expired are counted until they are removed.
 */
export async function readCounts(
  sql: Sql,
  wanted: TokenQuery,
  groupsMax: number,
): Promise<TokenCounts | undefined> {
  const values = new StatementValues(wanted.tenantId);
  const covered = coveredSql(wanted.grants, values);
  const condition = await conditionSql(wanted.condition, { ...wanted, values });
  const [found] = await sql.query<TokenCounts & { readonly read: number }>(
    `WITH RECURSIVE all_groups AS (${allGroups}), groups AS MATERIALIZED (
       SELECT container, type FROM all_groups LIMIT ${keptCountsMax + 1}
     ), kept AS MATERIALIZED (
       SELECT container, type, count FROM token_counts
       WHERE tenant_id = $1 LIMIT ${keptCountsMax + 1}
     ), covered AS MATERIALIZED (
       SELECT container, type FROM groups t WHERE ${covered} AND ${condition}
     )
     SELECT greatest((SELECT count(*) FROM groups), (SELECT count(*) FROM kept))::int AS read,
       (SELECT greatest(coalesce(sum(count), 0), 0)::float8 FROM kept t
        WHERE ${covered} AND ${condition}) AS items,
       (SELECT count(*) FROM covered) = (SELECT count(*) FROM groups) AS "isWhole",
       (SELECT coalesce(json_agg(g), '[]') FROM (
          SELECT container, type FROM covered LIMIT ${groupsMax}) g) AS groups`,
    values.all,
  );
  return found && found.read <= keptCountsMax ? found : undefined;
}
