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

/** Ids and texts, by whether they are in force after a change. */
interface ChangedTexts {
  /** Uploaded, and in force from now on. */
  readonly inForce: readonly string[];
  /** Uploaded, and in force no longer, or perhaps no longer. */
  readonly former: readonly string[];
  /** As `former`, but not uploaded: kept for as long as there may be runs of them. */
  readonly formerCodes: readonly string[];
}

/**
 * Notes when texts were last in force, and keeps those that are not there. The rows are locked all at once,
 * in the order of their ids: transactions with the same texts take turns, and none waits in a circle. The
 * update finds them by their ids again, because a row that was waited for is at another place.
 */
export async function noteTexts(
  sql: Sql,
  sealer: Sealer,
  tenantId: string,
  { inForce, former, formerCodes }: ChangedTexts,
): Promise<void> {
  const codes = new Map(formerCodes.map((code) => [idOfCode(code), code]));
  const ids = [...new Set([...inForce, ...former, ...codes.keys()])];
  if (ids.length === 0) return;
  const kept = await lockTexts(sql, tenantId, ids, 'NO KEY UPDATE');
  await sql.query(
    `UPDATE code_texts SET
       last_in_force_at = CASE WHEN id = ANY ($3::uuid[]) THEN 'infinity' ELSE now() END,
       held_until = CASE WHEN id = ANY ($3::uuid[]) THEN now() ELSE held_until END
     WHERE tenant_id = $1 AND id = ANY ($2::uuid[])`,
    [tenantId, kept, inForce],
  );
  const added = [...codes]
    .filter(([id]) => !kept.includes(id))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  if (added.length === 0) return;
  const sealed = await Promise.all(
    added.map(([id, code]) => sealer.seal(codePlace(tenantId, id), code)),
  );
  await sql.query(
    `INSERT INTO code_texts (tenant_id, id, text, last_in_force_at)
     SELECT $1, id, text, now() FROM unnest($2::uuid[], $3::bytea[]) AS kept (id, text)
     ON CONFLICT (tenant_id, id) DO UPDATE SET last_in_force_at = excluded.last_in_force_at`,
    [tenantId, added.map(([id]) => id), sealed],
  );
}

/** Returns the ids of those that are kept. `KEY SHARE` keeps them from being deleted, and from nothing else. */
export async function lockTexts(
  sql: Sql,
  tenantId: string,
  ids: readonly string[],
  lock: 'KEY SHARE' | 'NO KEY UPDATE',
): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await sql.query<{ id: string }>(
    `SELECT id FROM code_texts WHERE tenant_id = $1 AND id = ANY ($2::uuid[]) ORDER BY id FOR ${lock}`,
    [tenantId, ids],
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
