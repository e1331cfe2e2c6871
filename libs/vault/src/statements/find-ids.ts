import type { ContainerGrant } from '@glovebox/access';
import {
  countUpTo,
  estimate,
  findPage,
  tookTooLong,
  type Count,
  type FoundPage,
  type PageQuery,
  type Sql,
} from '@glovebox/database';
import { Problem } from '@glovebox/problems';
import { decidingGrant, grantValues, isLive } from './live-tokens';
import type { TokenQuery } from './token-conditions';
import { isKept } from './token-counts';
import { orderedTokens, sourcesOf, tokensOf, type Sources } from './token-sources';

/** Finds one page of the tokens that the grants cover, newest first. */
export async function findIds(sql: Sql, wanted: TokenQuery, query: PageQuery): Promise<FoundPage> {
  const sources = await sourcesOf(sql, wanted);
  const { tenantId, grants, condition } = wanted;
  return findPage(query, {
    list: { tenantId, asked: ['tokens', grants, condition] },
    find: async ({ after, skipped, limit }) => {
      const part = { after, limit: skipped + limit };
      const { text, values } = await orderedTokens(wanted, sources, part);
      const found = sql.query<{ id: string; at: Date }>(`${text} OFFSET ${skipped}`, values);
      return found.catch((error: unknown) => {
        throw tookTooLong(error) && !isKept(condition) ? tooBroad(sources, error) : error;
      });
    },
    count: () => countTokens(sql, wanted, sources),
  });
}

/** Tokens that take too long to count are estimated, as those above 10,000 are. */
async function countTokens(sql: Sql, wanted: TokenQuery, sources: Sources): Promise<Count> {
  const { items } = sources;
  if (items !== undefined && isKept(wanted.condition)) return { items, isEstimate: false };
  const { text, values } = await orderedTokens(wanted, sources);
  return countUpTo(sql, text, values).catch((error: unknown) => {
    if (tookTooLong(error)) return estimate(sql, text, values);
    throw error;
  });
}

const tooBroad = (sources: Sources, cause: unknown): Problem =>
  new Problem('service_unavailable', {
    detail:
      `The search took too long. It looks at ${tokensOf(sources)}, until the page is full. ` +
      'Add a term that fewer tokens meet.',
    retryAfterSeconds: 1,
    cause,
  });

/**
 * Finds the oldest token of each fingerprint, unless its grant is `redact`. A transaction that
 * stores the same data waits here for the end of the other. Locks are taken in one order. Their
 * number is bounded, because all locks of the server share one table.
 */
export async function findDuplicateIds(
  sql: Sql,
  tenantId: string,
  fingerprints: readonly string[],
  grants: readonly ContainerGrant[],
): Promise<{ readonly id: string; readonly fingerprint: string }[]> {
  await sql.query(
    `SELECT pg_advisory_xact_lock(hashtext($1), bucket) FROM (
       SELECT DISTINCT hashtext(fingerprint) & 63 AS bucket
       FROM unnest($2::text[]) AS fingerprint ORDER BY 1) buckets`,
    [tenantId, fingerprints],
  );
  return sql.query<{ id: string; fingerprint: string }>(
    `SELECT DISTINCT ON (t.fingerprint) t.fingerprint, t.id
     FROM tokens t JOIN ${decidingGrant('$3', '$4')} ON g.transform <> 'redact'
     WHERE t.tenant_id = $1 AND t.fingerprint = ANY ($2::text[]) AND ${isLive}
     ORDER BY t.fingerprint, t.created_at, t.id`,
    [tenantId, fingerprints, ...grantValues(grants)],
  );
}
