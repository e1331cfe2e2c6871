import type { Sql } from '@glovebox/database';
import type { KeyRing } from '@glovebox/seal';
import { sealDefinition } from './codec';
import type { Definition, DefinitionKind } from './definition';

/** The newest state of one resource in the log. No payload: it was deleted. */
export interface LogEntry {
  readonly version: number;
  readonly kind: DefinitionKind;
  readonly id: string;
  readonly tenantId: string;
  readonly payload: Buffer | null;
}

/** Where the log ends. The epoch is that of the database: another database, another count. */
export interface Head {
  readonly epoch: string;
  readonly version: number;
}

export interface LogPart {
  readonly head: Head;
  /** In order, each newer than what was asked for; a full part means that more may follow. */
  readonly entries: readonly LogEntry[];
  /** What a reader has who applies the entries: the head, unless the part is full. */
  readonly upTo: number;
}

/**
 * Writes the new state of a resource into the log, as the last statement of the transaction that
 * changes it: the row lock on the head makes versions gapless and puts them in commit order.
 */
export function appendDefinition(sql: Sql, ring: KeyRing, definition: Definition): Promise<number> {
  return append(sql, { ...definition, payload: sealDefinition(ring, definition) });
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

/** Entry by entry each would ask the server once; all in one statement could outlast its time-out. */
const deletionsPerStatement = 10_000;

/**
 * Deletes whatever a tenant has in the log: first what lets callers in. Nobody may write definitions
 * of the tenant meanwhile. The head is held from the first statement on, for about 15 µs an entry.
 */
export async function appendTenantDeletion(sql: Sql, tenantId: string): Promise<number> {
  let last: number | undefined;
  for (;;) {
    const [{ version, deleted } = { version: null, deleted: 0 }] = await sql.query<{
      version: string | null;
      deleted: number;
    }>(
      `WITH part AS (
         SELECT kind, id, row_number() OVER (ORDER BY rank, kind, id) AS place
         FROM definition_log,
           LATERAL (SELECT array_position('{application,proxy,tenant}'::text[], kind) AS rank) r
         WHERE tenant_id = $1 AND payload IS NOT NULL
         ORDER BY rank, kind, id LIMIT $2
       ), size AS (
         SELECT count(*) AS entries FROM part
       ), head AS (
         UPDATE definition_head SET version = version + entries FROM size WHERE entries > 0
         RETURNING version, entries
       ), deletion AS (
         UPDATE definition_log l SET version = head.version - entries + place, payload = NULL
         FROM part, head WHERE l.kind = part.kind AND l.id = part.id
         RETURNING l.version
       )
       SELECT max(version) AS version, count(*)::int AS deleted FROM deletion`,
      [tenantId, deletionsPerStatement],
    );
    if (version !== null) last = Number(version);
    if (deleted < deletionsPerStatement) break;
  }
  if (last === undefined) throw new Error('The tenant has no definitions');
  return last;
}

/** One snapshot of the log after a version. */
export async function readLog(sql: Sql, after: number, limit: number): Promise<LogPart> {
  const rows = await sql.query<{
    epoch: string;
    head: string;
    version: string | null;
    kind: DefinitionKind;
    id: string;
    tenantId: string;
    payload: Buffer | null;
  }>(
    `SELECT h.epoch, h.version AS head, l.version, l.kind, l.id, l.tenant_id AS "tenantId", l.payload
     FROM definition_head h
     LEFT JOIN LATERAL (
       SELECT * FROM definition_log WHERE version > $1 ORDER BY version LIMIT $2
     ) l ON true
     ORDER BY l.version`,
    [after, limit],
  );
  const first = rows[0];
  if (!first) throw new Error('The definition log has no head');
  const head = { epoch: first.epoch, version: Number(first.head) };
  const entries = rows.flatMap(({ version, kind, id, tenantId, payload }) =>
    version === null ? [] : [{ version: Number(version), kind, id, tenantId, payload }],
  );
  const last = entries.at(-1);
  return { head, entries, upTo: last && entries.length === limit ? last.version : head.version };
}
