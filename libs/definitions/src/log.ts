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
