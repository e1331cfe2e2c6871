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

/** A use with all that decides on it. Callers pass distinct ids: the verdict counts them. */
export interface AskedUse {
  readonly use: Use;
  readonly grants: readonly Grant[];
  readonly tokenIds: readonly string[];
  readonly limits: ReleaseLimits;
}

/**
 * Authorises, reads and records in one statement, so that nothing is released unrecorded and
 * nothing is released when one of the tokens is missing or out of bounds, or all of them hold more
 * bytes than the limits allow. On a tenant's part of a pool, uses of one moment share the statement.
 */
export function readAndRecord(sql: Sql, asked: AskedUse): Promise<SealedToken[]> {
  return sql.uses ? sql.uses.read(asked) : readAlone(sql, asked);
}

export function readAlone(
  sql: Sql,
  { use, grants, tokenIds, limits }: AskedUse,
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
      limits.bytesMax,
      limits.atOnceMax,
    ]),
  );
}

/** By position: the tokens of each use, or undefined where it must ask alone, unrecorded so far. */
export async function readTogether(
  sql: Sql,
  all: readonly AskedUse[],
): Promise<(SealedToken[] | undefined)[]> {
  const uses = all.map(({ use, grants, tokenIds, limits }, at) => ({
    at,
    tenant_id: use.tenantId,
    actor_id: use.actorId,
    operation: use.operation,
    entity_type: use.entityType,
    entity_id: use.entityId,
    trace_id: use.traceId,
    destination_host: use.destinationHost ?? null,
    token_ids: tokenIds,
    containers: grants.map(({ container }) => container),
    transforms: grants.map(({ transform }) => transform),
    bytes_max: limits.bytesMax,
    at_once_max: limits.atOnceMax,
  }));
  const rows = await recorded(sql.query<AnswerRow>(sharedStatement, [JSON.stringify(uses)]));
  const answers = new Map(rows.map((row) => [row.at, row]));
  return uses.map(({ at }) => {
    const answer = answers.get(at);
    if (!answer) throw new Error('A use of tokens was neither answered nor refused');
    return answer.deferred === true ? undefined : tokensIn(answer);
  });
}

/** One row a use: a row a token would cost this process more than to open the token. */
interface AnswerRow {
  readonly at: number;
  readonly deferred: boolean | null;
  /** Of what was found, in order and separated; null where nothing was. */
  readonly ids: string | null;
  readonly given: string | null;
  readonly sizes: string | null;
  /** All values, one behind the other. */
  readonly sealed: Buffer | null;
}

function tokensIn({ ids, given, sizes, sealed }: AnswerRow): SealedToken[] {
  if (ids === null || given === null || sizes === null) return [];
  const transforms = given.split(separator);
  const lengths = sizes.split(separator);
  let end = 0;
  return ids.split(separator).map((id, n) => {
    const bytes = lengths[n] ? Number(lengths[n]) : null;
    const start = end;
    end += bytes ?? 0;
    return {
      id,
      transform: (transforms[n] || null) as SealedToken['transform'],
      bytes,
      sealed: sealed && bytes !== null ? sealed.subarray(start, end) : null,
    };
  });
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

/** No id of a token holds it. */
const separator = '\n';

/**
 * The same for several uses of any tenants. They never meet: the tokens of each are looked up, judged
 * and put together in a subquery of its own, which sees no other use. LIMIT keeps the look-up what it
 * is, one key of the index after the other.
 */
const sharedStatement: Prepared = {
  name: 'read-and-record-together',
  text: `
WITH uses AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1::json) AS u (at integer, tenant_id uuid, actor_id uuid,
    operation text, entity_type text, entity_id text, trace_id text, destination_host text,
    token_ids text[], containers text[], transforms text[], bytes_max bigint, at_once_max bigint)
), verdict AS MATERIALIZED (
  SELECT u.*, f.*, bytes <= bytes_max AS allowed,
    bytes BETWEEN at_once_max + 1 AND bytes_max AS deferred
  FROM uses u CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(t.id ORDER BY w.rank), '{}') AS found,
      string_agg(t.id, E'\\n' ORDER BY w.rank) AS ids,
      string_agg(coalesce(g.transform, ''), E'\\n' ORDER BY w.rank) AS given,
      string_agg(coalesce(octet_length(s.sealed)::text, ''), E'\\n' ORDER BY w.rank) AS sizes,
      string_agg(CASE WHEN octet_length(s.sealed) <= u.at_once_max THEN s.sealed END, ''
        ORDER BY w.rank) AS sealed,
      CASE WHEN count(*) = cardinality(u.token_ids) AND bool_and(s.sealed IS NOT NULL)
        THEN sum(octet_length(s.sealed)) END AS bytes
    FROM unnest(u.token_ids) WITH ORDINALITY AS w (id, rank)
    CROSS JOIN LATERAL (
      SELECT * FROM tokens
      WHERE tenant_id = u.tenant_id AND id = w.id AND (expires_at IS NULL OR expires_at > now())
      LIMIT 1
    ) t
    LEFT JOIN ${decidingGrant('u.containers', 'u.transforms')} ON true
    CROSS JOIN LATERAL (
      SELECT CASE g.transform WHEN 'reveal' THEN t.data WHEN 'mask' THEN t.mask END AS sealed
    ) s
  ) f
), recorded AS (
  INSERT INTO audit_log
    (tenant_id, actor_id, operation, entity_type, entity_id, outcome, trace_id, token_ids, destination_host)
  SELECT tenant_id, actor_id, operation, entity_type, entity_id,
    CASE WHEN allowed THEN 'success' ELSE 'refused' END, trace_id, found, destination_host
  FROM verdict WHERE deferred IS NOT TRUE
)
SELECT at, deferred, ids, given, sizes, CASE WHEN allowed AND NOT deferred THEN sealed END AS sealed
FROM verdict`,
};
