import { createHash } from 'node:crypto';
import type { Sql } from '@glovebox/database';
import { codeIdOf, codePlace } from '@glovebox/runs';
import type { Sealer } from '@glovebox/seal';

/** Identifies a text of code, across processes too. */
export const codeHash = (code: string): string => createHash('sha256').update(code).digest('hex');

/** The newest of a tenant are kept, and no more of them … */
export const codeTextsMax = 1_000;
/** … nor more bytes. */
export const codeTextBytesMax = 32 * 1024 * 1024;

/** Names a text by its hash. Runs that executed it have the same name. */
export const idOfHash = (hash: string): string => codeIdOf(hash) ?? '';

export const idOfCode = (code: string): string => idOfHash(codeHash(code));

/**
 * Keeps code that goes out of force, for as long as there may be runs of it, and returns its ids. They are in
 * order, so that two transactions which keep the same texts do not wait for each other.
 */
export async function keepCode(
  sql: Sql,
  sealer: Sealer,
  tenantId: string,
  codes: readonly string[],
): Promise<string[]> {
  if (codes.length === 0) return [];
  const texts = [...new Map(codes.map((code) => [idOfCode(code), code]))].sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const ids = texts.map(([id]) => id);
  const kept = new Set(await touchTexts(sql, tenantId, ids, 'now'));
  const added = texts.filter(([id]) => !kept.has(id));
  const sealed = await Promise.all(
    added.map(([id, code]) => sealer.seal(codePlace(tenantId, id), code)),
  );
  await sql.query(
    `INSERT INTO code_texts (tenant_id, id, text, last_in_force_at)
     SELECT $1, id, text, now() FROM unnest($2::uuid[], $3::bytea[]) AS kept (id, text)
     ON CONFLICT (tenant_id, id) DO UPDATE SET last_in_force_at = excluded.last_in_force_at`,
    [tenantId, added.map(([id]) => id), sealed],
  );
  return ids;
}

/** Notes when texts that are kept were last in force, and returns the ids of those that are. */
export async function touchTexts(
  sql: Sql,
  tenantId: string,
  ids: readonly string[],
  lastInForceAt: 'now' | 'infinity',
): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await sql.query<{ id: string }>(
    `UPDATE code_texts SET last_in_force_at = $3::timestamptz,
       held_until = CASE WHEN $3 = 'infinity' THEN now() ELSE held_until END
     WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM code_texts WHERE tenant_id = $1 AND id = ANY ($2::uuid[])
       ORDER BY id FOR UPDATE)) RETURNING id`,
    [tenantId, ids, lastInForceAt],
  );
  return rows.map(({ id }) => id);
}

/** Forgets the oldest texts of a tenant, but for those that something holds. */
export async function trimCode(sql: Sql, tenantId: string): Promise<void> {
  await sql.query(trimStatement, [tenantId, codeTextsMax, codeTextBytesMax]);
}

const trimStatement = `
  DELETE FROM code_texts WHERE ctid = ANY (ARRAY(
    SELECT c.ctid FROM code_texts c JOIN (
      SELECT id, row_number() OVER newest AS nth, sum(octet_length(text)) OVER newest AS bytes
      FROM code_texts held WHERE tenant_id = $1
        AND (held_until IS NULL OR held_until < now()) AND NOT is_code_held(tenant_id, id)
      WINDOW newest AS (ORDER BY last_in_force_at DESC, id)
    ) placed USING (id)
    WHERE c.tenant_id = $1 AND (nth > $2 OR bytes > $3) FOR UPDATE OF c SKIP LOCKED))`;

/** Reads texts that are kept, by their ids. Those that are not are missing. */
export async function readCodes(
  sql: Sql,
  sealer: Sealer,
  tenantId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await sql.query<{ id: string; text: Buffer }>(
    'SELECT id, text FROM code_texts WHERE tenant_id = $1 AND id = ANY ($2::uuid[])',
    [tenantId, ids],
  );
  const opened = rows.map(
    async ({ id, text }) =>
      [id, (await sealer.open(codePlace(tenantId, id), text)).toString('utf8')] as const,
  );
  return new Map(await Promise.all(opened));
}

export async function bytesOfTexts(
  sql: Sql,
  tenantId: string,
  ids: readonly string[],
): Promise<number> {
  if (ids.length === 0) return 0;
  const [row] = await sql.query<{ bytes: string }>(
    `SELECT coalesce(sum(octet_length(text)), 0) AS bytes FROM code_texts
     WHERE tenant_id = $1 AND id = ANY ($2::uuid[])`,
    [tenantId, ids],
  );
  return Number(row?.bytes);
}

export async function knownTexts(
  sql: Sql,
  tenantId: string,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await sql.query<{ id: string }>(
    'SELECT id FROM code_texts WHERE tenant_id = $1 AND id = ANY ($2::uuid[])',
    [tenantId, ids],
  );
  return rows.map(({ id }) => id);
}
