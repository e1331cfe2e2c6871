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
 * Keeps code that goes out of force, for as long as there may be runs of it. Ids are in order, so
 * that two transactions which keep the same texts do not wait for each other.
 */
export async function keepCode(
  sql: Sql,
  sealer: Sealer,
  tenantId: string,
  codes: readonly string[],
): Promise<void> {
  if (codes.length === 0) return;
  const texts = [...new Map(codes.map((code) => [idOfCode(code), code]))].sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const sealed = await Promise.all(
    texts.map(([id, code]) => sealer.seal(placeOf(tenantId, id), code)),
  );
  await sql.query(
    `INSERT INTO code_texts (tenant_id, id, text, last_in_force_at)
     SELECT $1, id, text, now() FROM unnest($2::uuid[], $3::bytea[]) AS kept (id, text)
     ON CONFLICT (tenant_id, id) DO UPDATE SET last_in_force_at = excluded.last_in_force_at`,
    [tenantId, texts.map(([id]) => id), sealed],
  );
  await sql.query(trimStatement, [tenantId, codeTextsMax, codeTextBytesMax]);
}

const trimStatement = `
  DELETE FROM code_texts WHERE ctid = ANY (ARRAY(
    SELECT c.ctid FROM code_texts c JOIN (
      SELECT id, row_number() OVER newest AS nth, sum(octet_length(text)) OVER newest AS bytes
      FROM code_texts WHERE tenant_id = $1
      WINDOW newest AS (ORDER BY last_in_force_at DESC, id)
    ) placed USING (id)
    WHERE c.tenant_id = $1 AND (nth > $2 OR bytes > $3) FOR UPDATE OF c SKIP LOCKED))`;

/** Reads kept code. Undefined: it is not kept, or not any more. */
export async function readCode(
  sql: Sql,
  sealer: Sealer,
  tenantId: string,
  id: string,
): Promise<string | undefined> {
  const [row] = await sql.query<{ text: Buffer }>(
    'SELECT text FROM code_texts WHERE tenant_id = $1 AND id = $2',
    [tenantId, id],
  );
  return row && (await sealer.open(placeOf(tenantId, id), row.text)).toString('utf8');
}
