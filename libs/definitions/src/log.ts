import { sealingVersion, type Sql } from '@glovebox/database';
import type { KeyRing } from '@glovebox/seal';
import { isNewer, sealDefinition } from './codec';
import type { Definition, DefinitionKind } from './definition';
import type { Origin, Seen } from './marker';
import { tooOldFor } from './snapshot';

type Stored = Pick<Definition, 'kind' | 'id' | 'tenantId'>;

/** The newest state of one resource in the log. Without a payload it was deleted. */
export interface LogEntry {
  readonly version: number;
  readonly kind: DefinitionKind;
  readonly id: string;
  readonly tenantId: string;
  readonly payload: Buffer | null;
}

/** An entry as Postgres lists it. Without a digest its definition was deleted. */
export interface ListedEntry extends Omit<LogEntry, 'payload'> {
  /** SHA-256 of the payload: it tells the payload of this version from any other. */
  readonly digest: Buffer | null;
  readonly bytes: number;
  /** Null unless the list was asked for with payloads. */
  readonly payload: Buffer | null;
}

/** The end of the log. The epoch is that of the database: another database counts anew. */
export interface LogHead {
  readonly epoch: string;
  readonly version: number;
}

export function formatHead(head: LogHead): string {
  return `${head.epoch}:${head.version}`;
}

export function parseHead(text: string): LogHead | undefined {
  const match = /^([0-9a-f-]{36}):(\d+)$/.exec(text);
  return match ? { epoch: match[1] ?? '', version: Number(match[2]) } : undefined;
}

interface Part<Entry> {
  /** The version before the part. A reader that has less would miss something. */
  readonly after: number;
  readonly head: LogHead;
  /** The entries in order, each newer than `after`. More may follow a full part. */
  readonly entries: readonly Entry[];
  /** The version of a reader that has applied the entries: the head, unless the part is full. */
  readonly upTo: number;
}

export type LogPart = Part<LogEntry>;

export interface LogList extends Part<ListedEntry> {
  /** A standby may lack what the primary has acknowledged. */
  readonly isStandby: boolean;
  readonly seen: Seen;
  /** The database that answers. */
  readonly here: Origin;
  /** The database that the log was written in. Another one was restored or promoted. */
  readonly written: Origin;
  /** Survives in dumps and copies. */
  readonly installation: string;
}

/** A part is full with this many entries … */
export const logPartEntriesMax = 500;
/**
 * … or with the entry that takes it over this many bytes: each part has to be there within the
 * time-outs of one statement and one command, however large its entries are.
 */
export const logPartBytesMax = 1024 * 1024;

/**
 * Writes the new state of a resource into the log, as the last statement of the transaction that
 * changes it. The row lock on the head puts versions in commit order: all versions up to the head
 * are committed.
 */
export function appendDefinition(sql: Sql, ring: KeyRing, definition: Definition): Promise<number> {
  return appendChanges(sql, ring, [definition], []);
}

/**
 * False for a definition that this process is too old for: whoever replaced it would leave out what he
 * does not know of. The transaction holds the row of the resource, so that nobody else replaces it. A
 * deletion leaves nothing out.
 */
export const isUnderstood = async (sql: Sql, ring: KeyRing, definition: Stored): Promise<boolean> =>
  (await newerAmong(sql, ring, [definition])) === undefined;

/**
 * Writes what one transaction changes, in one statement: the head is held for one round trip, however
 * many there are. Returns the last of their versions.
 */
export async function appendChanges(
  sql: Sql,
  ring: KeyRing,
  definitions: readonly Definition[],
  deletions: readonly Stored[],
): Promise<number> {
  const sealedBy = await sealingVersion(sql, ring.newestVersion);
  const newer = await newerAmong(sql, ring, definitions);
  if (newer) throw tooOldFor(newer);
  return append(sql, [
    ...definitions.map((one) => ({ ...one, payload: sealDefinition(ring, sealedBy, one) })),
    ...deletions.map((one) => ({ ...one, payload: null })),
  ]);
}

async function newerAmong(
  sql: Sql,
  ring: KeyRing,
  definitions: readonly Stored[],
): Promise<DefinitionKind | undefined> {
  const known = await sql.query<Stored & { readonly payload: Buffer }>(
    `SELECT kind, id, tenant_id AS "tenantId", payload FROM definition_log
     JOIN unnest($1::text[], $2::uuid[]) AS changed (kind, id) USING (kind, id)
     WHERE payload IS NOT NULL`,
    [definitions.map(({ kind }) => kind), definitions.map(({ id }) => id)],
  );
  return known.find((entry) => isNewer(ring, entry))?.kind;
}

async function append(sql: Sql, entries: readonly Omit<LogEntry, 'version'>[]): Promise<number> {
  const [row] = await sql.query<{ version: string | null }>(
    `WITH head AS (
       UPDATE definition_head SET version = version + cardinality($1::text[]) RETURNING version
     ), appended AS (
       INSERT INTO definition_log (version, kind, id, tenant_id, payload)
       SELECT head.version - cardinality($1::text[]) + nth, kind, id, tenant_id, payload
       FROM head, unnest($1::text[], $2::uuid[], $3::uuid[], $4::bytea[])
         WITH ORDINALITY AS entry (kind, id, tenant_id, payload, nth)
       ON CONFLICT (kind, id) DO UPDATE SET version = excluded.version, payload = excluded.payload
     )
     SELECT version FROM head`,
    [
      entries.map(({ kind }) => kind),
      entries.map(({ id }) => id),
      entries.map(({ tenantId }) => tenantId),
      entries.map(({ payload }) => payload),
    ],
  );
  if (!row) throw new Error('The definition log has no head');
  return Number(row.version);
}

/** The version of a resource's newest definition, for a transaction that holds its row. */
export async function versionOf(sql: Sql, kind: DefinitionKind, id: string): Promise<number> {
  const [row] = await sql.query<{ version: string }>(
    'SELECT version FROM definition_log WHERE kind = $1 AND id = $2',
    [kind, id],
  );
  return Number(row?.version ?? 0);
}

/** Whether the log has a definition now. */
export async function isDefined(sql: Sql, kind: DefinitionKind, id: string): Promise<boolean> {
  const rows = await sql.query(
    'SELECT 1 FROM definition_log WHERE kind = $1 AND id = $2 AND payload IS NOT NULL',
    [kind, id],
  );
  return rows.length > 0;
}

/** One statement each would ask the server as often. One statement for all could time out. */
const deletionsPerStatement = 10_000;

/**
 * Deletes all definitions of a tenant from the log, first those that let callers in. Nothing else
 * may write definitions of the tenant meanwhile. The head is locked from the first part to the end
 * of the transaction.
 */
export async function appendTenantDeletion(sql: Sql, tenantId: string): Promise<number> {
  const entries = await sql.query<Pick<LogEntry, 'kind' | 'id'>>(
    `SELECT kind, id FROM definition_log WHERE tenant_id = $1 AND payload IS NOT NULL
     ORDER BY array_position('{application,proxy,tenant}'::text[], kind), kind, id`,
    [tenantId],
  );
  let last: string | undefined;
  for (let from = 0; from < entries.length; from += deletionsPerStatement) {
    const part = entries.slice(from, from + deletionsPerStatement);
    const [head] = await sql.query<{ version: string }>(
      `WITH head AS (
         UPDATE definition_head SET version = version + cardinality($1::text[]) RETURNING version
       ), deletion AS (
         UPDATE definition_log l
         SET version = head.version - cardinality($1::text[]) + part.place, payload = NULL
         FROM head, unnest($1::text[], $2::uuid[]) WITH ORDINALITY AS part (kind, id, place)
         WHERE l.kind = part.kind AND l.id = part.id
       )
       SELECT version FROM head`,
      [part.map(({ kind }) => kind), part.map(({ id }) => id)],
    );
    last = head?.version;
  }
  if (last === undefined) throw new Error('The tenant has no definitions');
  return Number(last);
}

/** Nothing is newer for most readers: then the inner query is not begun. */
const listAfter = {
  name: 'list-definitions',
  text: `SELECT h.epoch, h.version AS head, pg_is_in_recovery() AS "isStandby",
      h.installation, p.pulse, h.place AS "writtenPlace", h.timeline AS "writtenTimeline",
      d.place, d.timeline, l.found, l.version,
      l.kind, l.id, l.tenant_id AS "tenantId", sha256(l.payload) AS digest,
      coalesce(octet_length(l.payload), 0) AS bytes, CASE WHEN $4 THEN l.payload END AS payload
    FROM definition_head h CROSS JOIN database_pulse p CROSS JOIN this_database() d
    LEFT JOIN LATERAL (
      SELECT *, (count(*) OVER ())::int AS found,
        sum(coalesce(octet_length(payload), 0)) OVER (ORDER BY version)
          - coalesce(octet_length(payload), 0) AS bytes_before
      FROM (
        SELECT * FROM definition_log WHERE h.version > $1 AND version > $1 ORDER BY version LIMIT $2
      ) next
    ) l ON l.bytes_before < $3
    ORDER BY l.version`,
};

interface ListedRow extends Omit<ListedEntry, 'version'> {
  readonly epoch: string;
  readonly head: string;
  readonly isStandby: boolean;
  readonly installation: string;
  readonly pulse: string;
  readonly writtenPlace: string;
  readonly writtenTimeline: number;
  readonly place: string;
  readonly timeline: number;
  readonly found: number | null;
  readonly version: string | null;
}

/** Lists a part of the log after a version, in one snapshot. */
export async function listLog(
  sql: Sql,
  after: number,
  entriesMax = logPartEntriesMax,
  withPayloads = false,
): Promise<LogList> {
  const values = [after, entriesMax, logPartBytesMax, withPayloads];
  const rows = await sql.query<ListedRow>(listAfter, values);
  const first = rows[0];
  if (!first) throw new Error('The definition log has no head');
  const head = { epoch: first.epoch, version: Number(first.head) };
  const entries = rows.flatMap(({ version, kind, id, tenantId, digest, bytes, payload }) =>
    version === null
      ? []
      : [{ version: Number(version), kind, id, tenantId, digest, bytes, payload }],
  );
  const last = entries.at(-1);
  const isFull = entries.length === entriesMax || entries.length < (first.found ?? 0);
  const upTo = last && isFull ? last.version : head.version;
  return {
    after,
    head,
    isStandby: first.isStandby,
    seen: { ...head, pulse: Number(first.pulse) },
    here: { place: first.place, timeline: first.timeline },
    written: { place: first.writtenPlace, timeline: first.writtenTimeline },
    installation: first.installation,
    entries,
    upTo,
  };
}

/** Reads payloads by their versions. One whose definition has changed meanwhile is missing. */
export async function readPayloads(
  sql: Sql,
  versions: readonly number[],
): Promise<Map<number, Buffer>> {
  const rows = await sql.query<{ version: string; payload: Buffer }>(
    'SELECT version, payload FROM definition_log WHERE version = ANY($1::bigint[])',
    [versions],
  );
  return new Map(rows.map(({ version, payload }) => [Number(version), payload]));
}
