import type { Sql } from '@glovebox/database';
import { codeIdOf } from '@glovebox/runs';
import type { Place, Sealer } from '@glovebox/seal';
import { codeHash } from './check-code';

/** The newest of a tenant are kept, and no more of them … */
export const codeTextsMax = 1_000;
/** … nor more bytes. */
export const codeTextBytesMax = 32 * 1024 * 1024;

const placeOf = (tenantId: string, record: string): Place => ({
  table: 'code_texts',
  column: 'text',
  tenantId,
  record,
});

/** Names a text of code. Runs that executed it have the same name. */
export const idOfCode = (code: string): string => codeIdOf(codeHash(code)) ?? '';

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
  const known = await sql.query<{ id: string }>(
    `UPDATE code_texts SET last_in_force_at = now() WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM code_texts WHERE tenant_id = $1 AND id = ANY ($2::uuid[])
       ORDER BY id FOR UPDATE)) RETURNING id`,
    [tenantId, ids],
  );
  const kept = new Set(known.map(({ id }) => id));
  const added = texts.filter(([id]) => !kept.has(id));
  const sealed = await Promise.all(
    added.map(([id, code]) => sealer.seal(placeOf(tenantId, id), code)),
  );
  await sql.query(
    `INSERT INTO code_texts (tenant_id, id, text, last_in_force_at)
     SELECT $1, id, text, now() FROM unnest($2::uuid[], $3::bytea[]) AS kept (id, text)
     ON CONFLICT (tenant_id, id) DO UPDATE SET last_in_force_at = excluded.last_in_force_at`,
    [tenantId, added.map(([id]) => id), sealed],
  );
  return ids;
}

/** Forgets the oldest texts of a tenant, but for those that a deployment holds. */
export async function trimCode(sql: Sql, tenantId: string): Promise<void> {
  await sql.query(trimStatement, [tenantId, codeTextsMax, codeTextBytesMax]);
}

const trimStatement = `
  DELETE FROM code_texts WHERE ctid = ANY (ARRAY(
    SELECT c.ctid FROM code_texts c JOIN (
      SELECT id, row_number() OVER newest AS nth, sum(octet_length(text)) OVER newest AS bytes
      FROM code_texts held WHERE tenant_id = $1 AND NOT EXISTS (
        SELECT FROM deployments d WHERE d.tenant_id = $1 AND held.id = ANY (d.code_ids))
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
      [id, (await sealer.open(placeOf(tenantId, id), text)).toString('utf8')] as const,
  );
  return new Map(await Promise.all(opened));
}
