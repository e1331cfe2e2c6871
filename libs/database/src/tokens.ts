import { recorded } from './audit';
import type { Prepared, Sql } from './database';

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
  readonly transform: 'reveal' | 'mask' | 'redact';
}

export interface SealedToken {
  readonly id: string;
  /** Null when no grant covers the token. */
  readonly transform: Grant['transform'] | null;
  /** How much it gives; null: nothing. */
  readonly bytes: number | null;
  /** Its data under `reveal`, its mask under `mask`. Null unless every token is released. */
  readonly sealed: Buffer | null;
}

/** How many bytes of tokens are released. */
export interface ReleaseLimits {
  /** Nothing of more, which is a refusal. */
  readonly bytesMax: number;
  /** Nothing of more, and no record: the caller may ask again when it is ready for so much. */
  readonly atOnceMax: number;
}

/**
 * Authorises, reads and records in one statement, so that nothing is released unrecorded and
 * nothing is released when one of the tokens is missing or out of bounds, or all of them hold more
 * bytes than the limits allow.
 */
export async function readAndRecord(
  sql: Sql,
  use: Use,
  grants: readonly Grant[],
  tokenIds: readonly string[],
  { bytesMax, atOnceMax }: ReleaseLimits,
): Promise<SealedToken[]> {
  return recorded(
    sql.query<SealedToken>(statement, [
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
      bytesMax,
      atOnceMax,
    ]),
  );
}

/** The first of the grants that covers the container of `t`, deciding ones first; as `g`. */
export const decidingGrant = (containers: string, transforms: string): string => `LATERAL (
    SELECT transform
    FROM unnest(${containers}::text[], ${transforms}::text[])
      WITH ORDINALITY AS grants (container, transform, rank)
    WHERE starts_with(t.container, grants.container) ORDER BY rank LIMIT 1
  ) g`;

// Only ids that exist are recorded: what else a caller put between braces may be anything.
const statement: Prepared = {
  name: 'read-and-record',
  text: `
WITH found AS (
  SELECT t.id, g.transform,
    CASE g.transform WHEN 'reveal' THEN t.data WHEN 'mask' THEN t.mask END AS sealed
  FROM tokens t
  LEFT JOIN ${decidingGrant('$3', '$4')} ON true
  WHERE t.tenant_id = $1 AND t.id = ANY ($2::text[])
    AND (t.expires_at IS NULL OR t.expires_at > now())
), verdict AS (
  SELECT bytes <= $11::bigint AS allowed, bytes BETWEEN $12::bigint + 1 AND $11::bigint AS deferred
  FROM (
    SELECT sum(octet_length(sealed)) FILTER (WHERE is_complete) AS bytes
    FROM found, (
      SELECT count(*) = cardinality($2::text[]) AND bool_and(sealed IS NOT NULL) AS is_complete
      FROM found
    ) c
  ) b
), recorded AS (
  INSERT INTO audit_log
    (tenant_id, actor_id, operation, entity_type, entity_id, outcome, trace_id, token_ids, destination_host)
  SELECT $1, $5, $6, $7, $8, CASE WHEN allowed THEN 'success' ELSE 'refused' END, $9,
    (SELECT coalesce(array_agg(id ORDER BY array_position($2::text[], id)), '{}') FROM found), $10
  FROM verdict WHERE deferred IS NOT TRUE
)
SELECT id, transform, octet_length(sealed) AS bytes,
  CASE WHEN allowed AND NOT deferred THEN sealed END AS sealed
FROM found, verdict`,
};
