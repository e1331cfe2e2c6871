import { sealingVersion, type Sql } from '@glovebox/database';
import type { KeyRing } from '@glovebox/seal';
import { sealDefinition } from './codec';
import type { Definition, DefinitionKind } from './definition';

/** The newest state of one resource in the log. Without a payload it was deleted. */
export interface LogEntry {
  readonly version: number;
  readonly kind: DefinitionKind;
  readonly id: string;
  readonly tenantId: string;
  readonly payload: Buffer | null;
  /** Proves the version in Redis, where more hands may write than seal. */
  readonly proof?: string;
}

/** The end of the log. The epoch is that of the database: another database counts anew. */
export interface Head {
  readonly epoch: string;
  readonly version: number;
}

export function formatHead(head: Head): string {
  return `${head.epoch}:${head.version}`;
}

export interface LogPart {
  /** The version before the part. A reader that has less would miss something. */
  readonly after: number;
  readonly head: Head;
  /** The entries in order, each newer than `after`. More may follow a full part. */
  readonly entries: readonly LogEntry[];
  /** The version of a reader that has applied the entries: the head, unless the part is full. */
  readonly upTo: number;
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
export async function appendDefinition(
  sql: Sql,
  ring: KeyRing,
  definition: Definition,
): Promise<number> {
  const version = await sealingVersion(sql, ring.newestVersion);
  return append(sql, { ...definition, payload: sealDefinition(ring, version, definition) });
}

export function appendDeletion(
  sql: Sql,
  deleted: { kind: DefinitionKind; id: string; tenantId: string },
): Promise<number> {
  return append(sql, { ...deleted, payload: null });
}

async function append(sql: Sql, entry: Omit<LogEntry, 'version'>): Promise<number> {
  const [row] = await sql.query<{ version: string }>(
    `WITH head AS (UPDATE definition_head SET version = version + 1 RETURNING version)
     INSERT INTO definition_log (version, kind, id, tenant_id, payload)
     SELECT version, $1, $2, $3, $4 FROM head
     ON CONFLICT (kind, id) DO UPDATE SET version = excluded.version, payload = excluded.payload
     RETURNING version`,
    [entry.kind, entry.id, entry.tenantId, entry.payload],
  );
  if (!row) throw new Error('The definition log has no head');
  return Number(row.version);
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

/** Reads the end of the log. */
export async function readHead(sql: Sql): Promise<Head> {
  const [head] = await sql.query<{ epoch: string; version: string }>(
    'SELECT epoch, version FROM definition_head',
  );
  if (!head) throw new Error('The definition log has no head');
  return { epoch: head.epoch, version: Number(head.version) };
}

/**
 * Reads a part of the log after a version, in one snapshot. Entries beyond the part are never
 * fetched.
 */
export async function readLog(
  sql: Sql,
  after: number,
  entriesMax = logPartEntriesMax,
): Promise<LogPart> {
  const rows = await sql.query<{
    epoch: string;
    head: string;
    found: number | null;
    version: string | null;
    kind: DefinitionKind;
    id: string;
    tenantId: string;
    payload: Buffer | null;
  }>(
    `SELECT h.epoch, h.version AS head, l.found, l.version, l.kind, l.id, l.tenant_id AS "tenantId",
       l.payload
     FROM definition_head h
     LEFT JOIN LATERAL (
       SELECT *, (count(*) OVER ())::int AS found,
         sum(coalesce(octet_length(payload), 0)) OVER (ORDER BY version)
           - coalesce(octet_length(payload), 0) AS bytes_before
       FROM (SELECT * FROM definition_log WHERE version > $1 ORDER BY version LIMIT $2) next
     ) l ON l.bytes_before < $3
     ORDER BY l.version`,
    [after, entriesMax, logPartBytesMax],
  );
  const first = rows[0];
  if (!first) throw new Error('The definition log has no head');
  const head = { epoch: first.epoch, version: Number(first.head) };
  const entries = rows.flatMap(({ version, kind, id, tenantId, payload }) =>
    version === null ? [] : [{ version: Number(version), kind, id, tenantId, payload }],
  );
  const last = entries.at(-1);
  const isFull = entries.length === entriesMax || entries.length < (first.found ?? 0);
  return { after, head, entries, upTo: last && isFull ? last.version : head.version };
}
