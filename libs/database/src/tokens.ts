import type { Sql } from './database';

/** Who uses data, for what: everything that the record of a use holds, and no value. */
export interface Use {
  readonly tenantId: string;
  /** The application that acts, or null for an anonymous caller. */
  readonly actorId: string | null;
  readonly operation: string;
  readonly entityType: string;
  readonly entityId: string;
  readonly traceId: string;
  readonly destinationHost?: string;
}

/** A line of what the actor may do, the deciding one first: containers below the prefix, in this way. */
export interface Grant {
  readonly container: string;
  /** Null refuses. */
  readonly transform: string | null;
}

export interface SealedToken {
  readonly id: string;
  readonly type: string;
  /** Null when no grant covers the token. */
  readonly transform: string | null;
  /** Null unless every token was found and granted. */
  readonly data: Buffer | null;
}

/**
 * Authorises, reads and records in one statement, so that nothing is released unrecorded and
 * nothing is released when one of the tokens is missing or out of bounds.
 */
export function readAndRecord(
  sql: Sql,
  use: Use,
  grants: readonly Grant[],
  tokenIds: readonly string[],
): Promise<SealedToken[]> {
  return sql.query<SealedToken>(statement, [
    use.tenantId,
    tokenIds,
    grants.map((grant) => grant.container),
    grants.map((grant) => grant.transform),
    use.actorId,
    use.operation,
    use.entityType,
    use.entityId,
    use.traceId,
    use.destinationHost ?? null,
  ]);
}

// Only ids that exist are recorded: what else a caller put between braces may be anything.
const statement = `
WITH found AS (
  SELECT t.id, t.type, t.data, g.transform
  FROM tokens t
  LEFT JOIN LATERAL (
    SELECT transform FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS g (container, transform, rank)
    WHERE starts_with(t.container, g.container) ORDER BY rank LIMIT 1
  ) g ON true
  WHERE t.tenant_id = $1 AND t.id = ANY ($2::text[])
    AND (t.expires_at IS NULL OR t.expires_at > now())
), verdict AS (
  SELECT count(*) = cardinality($2::text[]) AND bool_and(transform IS NOT NULL) AS allowed FROM found
), recorded AS (
  INSERT INTO audit_log
    (tenant_id, actor_id, operation, entity_type, entity_id, outcome, trace_id, token_ids, destination_host)
  SELECT $1, $5, $6, $7, $8, CASE WHEN allowed THEN 'success' ELSE 'refused' END, $9,
    (SELECT coalesce(array_agg(id ORDER BY array_position($2::text[], id)), '{}') FROM found), $10
  FROM verdict
)
SELECT id, type, transform, CASE WHEN allowed THEN data END AS data FROM found, verdict`;
