import type { ContainerGrant, Transform } from '@glovebox/access';
import { orAuditUnavailable, type PreparedStatement, type Sql } from '@glovebox/database';
import type { TokenRow } from '../token';
import { decidingGrant, grantValues, isLive, smallColumns, type Given } from './live-tokens';

/** The content of an audit line: who reads tokens, and what for. It holds no value. */
export interface Use {
  readonly tenantId: string;
  /** The application that acts, or null for an anonymous caller. */
  readonly actorId: string | null;
  readonly operation: string;
  readonly entityType: string;
  readonly entityId: string;
  readonly traceId: string;
  readonly destinationHost?: string;
  /**
   * What covers the host that the values are sent to (`hostPatternsOf`). Absent: they are not sent by
   * us.
   */
  readonly goesTo?: readonly string[];
}

/** How many bytes of tokens are released. */
interface ReleaseLimits {
  /** More bytes than this are a refusal. */
  readonly bytesMax: number;
  /**
   * More bytes than this are neither released nor recorded; of a look, metadata counts too. The
   * caller asks again when it is ready for them.
   */
  readonly atOnceMax: number;
}

/** A use with all that decides on it. Callers pass distinct ids: the verdict counts them. */
export interface AskedUse {
  readonly use: Use;
  readonly grants: readonly ContainerGrant[];
  readonly tokenIds: readonly string[];
  readonly limits: ReleaseLimits;
}

export interface SealedToken {
  readonly id: string;
  readonly container: string;
  readonly createdAt: Date;
  /** Where it may go. Null: anywhere. */
  readonly destinations: readonly string[] | null;
  /** Null when no grant covers the token. */
  readonly transform: Given | null;
  /** The sealed bytes that it gives, or null if it gives nothing. */
  readonly bytes: number | null;
  /** Its data under `reveal`, its mask under `mask`. Null unless every token is released. */
  readonly sealed: Buffer | null;
}

/** A look at tokens with all that decides on it. */
interface AskedLook extends AskedUse {
  /**
   * A change shows the token that it has changed. It is recorded even where nothing is revealed.
   */
  readonly isChange: boolean;
  /** A list leaves out the tokens that no grant covers. For any other look they are a refusal. */
  readonly isList: boolean;
}

export interface LookRow extends TokenRow {
  /** Null when no grant covers the token. */
  readonly transform: Transform | null;
  /** If false, nothing sealed is released. */
  readonly isAllowed: boolean;
  /** Nothing is released or recorded yet: so many bytes wait for a place to open them. */
  readonly isDeferred: boolean;
  /** The bytes of the row, with metadata and all that is sealed. */
  readonly bytes: number;
  readonly options: Buffer | null;
  readonly sealed: Buffer | null;
}

/** The column that the grant gives of the token `t`. */
const given = `CASE g.transform WHEN 'reveal' THEN t.data WHEN 'mask' THEN t.mask END`;

/** Bytes of a token: of its small columns about, of all the rest exactly. */
const rowBytes = `512 + coalesce(octet_length(${given}), 0)
    + coalesce(octet_length(t.options), 0) + coalesce(octet_length(t.metadata::text), 0)
    + coalesce(octet_length(array_to_string(t.destinations, ' ')), 0)`;

const verdictOn = (bytesMax: string, atOnceMax: string, weighed = 'bytes'): string =>
  `bytes <= ${bytesMax} AS allowed, bytes <= ${bytesMax} AND ${weighed} > ${atOnceMax} AS deferred`;

const released = (column: string): string =>
  `CASE WHEN allowed AND NOT deferred THEN ${column} END AS ${column}`;

const outcome = `CASE WHEN allowed THEN 'success' ELSE 'refused' END`;

const intoAuditLog = `INSERT INTO audit_log
    (tenant_id, actor_id, operation, entity_type, entity_id, outcome, trace_id, token_ids, destination_host)`;

const idsInOrder = 'array_agg(id ORDER BY array_position($2::text[], id))';

/**
 * Authorises, reads and records in one statement: nothing is released unrecorded, and nothing is
 * released where the verdict refuses one of the tokens. Only ids that exist are recorded, since the
 * other ids that a caller names may be any text. A use and a look differ in these parts alone.
 */
const readingStatement = (parts: {
  /** Columns of `t` for the verdict and the answer. */
  readonly found: string;
  readonly where: string;
  /** The bytes of a release, over all that was found. Null is a refusal, whatever the limits. */
  readonly bytes: string;
  /** More columns of the verdict, over all that was found. */
  readonly verdict: string;
  /** The bytes that must not be too many at once: a column of the verdict. */
  readonly weighed: string;
  readonly recordedIds: string;
  readonly isRecorded: string;
  readonly answer: string;
}): string => `
WITH found AS (
  SELECT ${parts.found}, g.transform, ${given} AS sealed
  FROM tokens t
  LEFT JOIN ${decidingGrant('$3', '$4', '$13')} ON true
  WHERE t.tenant_id = $1 AND t.id = ANY ($2::text[]) AND ${isLive}${parts.where}
), verdict AS (
  SELECT *, ${verdictOn('$11::bigint', '$12::bigint', parts.weighed)}
  FROM (SELECT ${parts.bytes} AS bytes, ${idsInOrder} AS ids${parts.verdict} FROM found) f
), recorded AS (
  ${intoAuditLog}
  SELECT $1, $5, $6, $7, $8, ${outcome}, $9, ${parts.recordedIds}, $10
  FROM verdict WHERE deferred IS NOT TRUE${parts.isRecorded}
)
SELECT ${parts.answer}`;

const statementAboutUse = (sealed: string): string =>
  readingStatement({
    found: 't.id, t.container, t.destinations, t.created_at',
    where: '',
    bytes: `CASE WHEN count(*) = cardinality($2::text[]) AND bool_and(sealed IS NOT NULL)
    THEN sum(octet_length(sealed)) END`,
    verdict: '',
    weighed: 'bytes',
    recordedIds: `coalesce(ids, '{}')`,
    isRecorded: '',
    answer: `id, container, destinations, created_at AS "createdAt", transform, octet_length(sealed) AS bytes,
  ${sealed}
FROM found, verdict`,
  });

/** The values for a proxy, a reactor or `/detokenize`: of all the tokens, or of none. */
const useStatement: PreparedStatement = {
  name: 'read-and-record',
  text: statementAboutUse(released('sealed')),
};

/** The verdict that a use would get now, recorded, and no value. */
const foreseeStatement: PreparedStatement = {
  name: 'foresee-and-record',
  text: statementAboutUse('NULL::bytea AS sealed'),
};

/**
 * Tokens as the API shows them. To reveal data is to use it: the record names the ids revealed. The
 * record of a refusal names all ids found; a look that finds none leaves no record.
 */
const lookStatement: PreparedStatement = {
  name: 'look-and-record',
  text: readingStatement({
    found: `t.*, ${rowBytes} AS row_bytes`,
    where: `
    AND (g.transform IS NOT NULL OR NOT $15::boolean)`,
    bytes: `CASE WHEN bool_and(transform IS NOT NULL)
    THEN sum(coalesce(octet_length(sealed), 0) + coalesce(octet_length(options), 0)) END`,
    verdict: `, ${idsInOrder} FILTER (WHERE transform = 'reveal') AS revealed,
    sum(row_bytes) AS held`,
    weighed: 'held',
    recordedIds: 'CASE WHEN allowed THEN revealed ELSE ids END',
    isRecorded: `
    AND ids IS NOT NULL AND (allowed IS NOT TRUE OR revealed IS NOT NULL OR $14::boolean)`,
    answer: `${smallColumns}, transform, allowed IS TRUE AS "isAllowed",
  deferred IS TRUE AS "isDeferred", row_bytes AS bytes,
  ${released('metadata')}, ${released('options')}, ${released('sealed')}
FROM found, verdict
ORDER BY array_position($2::text[], id)`,
  }),
};

const valuesOf = ({ use, grants, tokenIds, limits }: AskedUse): unknown[] => [
  use.tenantId,
  tokenIds,
  ...grantValues(grants, use.goesTo),
  use.actorId,
  use.operation,
  use.entityType,
  use.entityId,
  use.traceId,
  use.destinationHost ?? null,
  limits.bytesMax,
  limits.atOnceMax,
  use.goesTo ?? null,
];

export function readUse(sql: Sql, asked: AskedUse): Promise<SealedToken[]> {
  return orAuditUnavailable(sql.query<SealedToken>(useStatement, valuesOf(asked)));
}

/** Judges and records a use without its data, so that a later one may count on it. */
export function foreseeUse(sql: Sql, asked: AskedUse): Promise<SealedToken[]> {
  return orAuditUnavailable(sql.query<SealedToken>(foreseeStatement, valuesOf(asked)));
}

/** A use that is refused for what no statement knows: it is granted nothing, and recorded so. */
export const refusedUse = (use: Use, tokenIds: readonly string[]): AskedUse => ({
  use,
  grants: [],
  tokenIds: [...new Set(tokenIds)],
  limits: { bytesMax: 0, atOnceMax: 0 },
});

export function readLook(sql: Sql, asked: AskedLook): Promise<LookRow[]> {
  const values = [...valuesOf(asked), asked.isChange, asked.isList];
  return orAuditUnavailable(sql.query<LookRow>(lookStatement, values));
}

/** No id of a token and no container contains it. */
const separator = '\n';

/**
 * The use statement for several uses of any tenant. They never meet: a subquery of its own looks up,
 * judges and puts together the tokens of each use, and sees no other use. LIMIT keeps the look-up to
 * one key of the index after the other.
 */
const sharedStatement: PreparedStatement = {
  name: 'read-and-record-together',
  text: `
WITH uses AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1::json) AS u (at integer, tenant_id uuid, actor_id uuid,
    operation text, entity_type text, entity_id text, trace_id text, destination_host text,
    goes_to text[], token_ids text[], containers text[], transforms text[], bytes_max bigint, at_once_max bigint)
), verdict AS MATERIALIZED (
  SELECT u.*, f.*, ${verdictOn('bytes_max', 'at_once_max')}
  FROM uses u CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(t.id ORDER BY w.rank), '{}') AS found,
      string_agg(t.id, E'\\n' ORDER BY w.rank) AS ids,
      string_agg(t.container, E'\\n' ORDER BY w.rank) AS homes,
      string_agg(coalesce(array_to_string(t.destinations, ' '), ''), E'\\n'
        ORDER BY w.rank) AS ways,
      string_agg((extract(epoch FROM t.created_at) * 1000)::bigint::text, E'\\n'
        ORDER BY w.rank) AS made,
      string_agg(coalesce(g.transform, ''), E'\\n' ORDER BY w.rank) AS given,
      string_agg(coalesce(octet_length(s.sealed)::text, ''), E'\\n' ORDER BY w.rank) AS sizes,
      string_agg(CASE WHEN octet_length(s.sealed) <= u.at_once_max THEN s.sealed END, ''
        ORDER BY w.rank) AS sealed,
      CASE WHEN count(*) = cardinality(u.token_ids) AND bool_and(s.sealed IS NOT NULL)
        THEN sum(octet_length(s.sealed)) END AS bytes
    FROM unnest(u.token_ids) WITH ORDINALITY AS w (id, rank)
    CROSS JOIN LATERAL (
      SELECT * FROM tokens t WHERE t.tenant_id = u.tenant_id AND t.id = w.id AND ${isLive} LIMIT 1
    ) t
    LEFT JOIN ${decidingGrant('u.containers', 'u.transforms', 'u.goes_to')} ON true
    CROSS JOIN LATERAL (SELECT ${given} AS sealed) s
  ) f
), recorded AS (
  ${intoAuditLog}
  SELECT tenant_id, actor_id, operation, entity_type, entity_id, ${outcome}, trace_id, found,
    destination_host
  FROM verdict WHERE deferred IS NOT TRUE
)
SELECT at, deferred, ids, homes, ways, made, given, sizes, ${released('sealed')}
FROM verdict`,
};

/** One row a use. One row a token would cost this process more than opening the token. */
interface SharedRow {
  readonly at: number;
  readonly deferred: boolean | null;
  /**
   * Ids, containers, destinations, times of creation, transforms and sizes of the tokens found, in
   * order and separated; null where none was.
   */
  readonly ids: string | null;
  readonly homes: string | null;
  readonly ways: string | null;
  readonly made: string | null;
  readonly given: string | null;
  readonly sizes: string | null;
  /** All values, one after the other. */
  readonly sealed: Buffer | null;
}

/**
 * Returns the tokens of each use, by position. Undefined: the use is not recorded and must ask
 * alone.
 */
export async function readUsesTogether(
  sql: Sql,
  all: readonly AskedUse[],
): Promise<(SealedToken[] | undefined)[]> {
  const uses = all.map(({ use, grants, tokenIds, limits }, at) => {
    const [containers, transforms] = grantValues(grants, use.goesTo);
    return {
      at,
      tenant_id: use.tenantId,
      actor_id: use.actorId,
      operation: use.operation,
      entity_type: use.entityType,
      entity_id: use.entityId,
      trace_id: use.traceId,
      destination_host: use.destinationHost ?? null,
      goes_to: use.goesTo ?? null,
      token_ids: tokenIds,
      containers,
      transforms,
      bytes_max: limits.bytesMax,
      at_once_max: limits.atOnceMax,
    };
  });
  const rows = await orAuditUnavailable(
    sql.query<SharedRow>(sharedStatement, [JSON.stringify(uses)]),
  );
  const answers = new Map(rows.map((row) => [row.at, row]));
  return uses.map(({ at }) => {
    const answer = answers.get(at);
    if (!answer) throw new Error('A use of tokens was neither answered nor refused');
    return answer.deferred === true ? undefined : tokensIn(answer);
  });
}

function tokensIn({ ids, homes, ways, made, given, sizes, sealed }: SharedRow): SealedToken[] {
  if (ids === null || homes === null || made === null || given === null || sizes === null) {
    return [];
  }
  const containers = homes.split(separator);
  const destinations = ways?.split(separator) ?? [];
  const times = made.split(separator);
  const transforms = given.split(separator);
  const lengths = sizes.split(separator);
  let end = 0;
  return ids.split(separator).map((id, n) => {
    const bytes = lengths[n] ? Number(lengths[n]) : null;
    const start = end;
    end += bytes ?? 0;
    return {
      id,
      container: containers[n] ?? '',
      createdAt: new Date(Number(times[n])),
      destinations: destinations[n] ? destinations[n].split(' ') : null,
      transform: (transforms[n] || null) as SealedToken['transform'],
      bytes,
      sealed: sealed && bytes !== null ? sealed.subarray(start, end) : null,
    };
  });
}
