import { dropOldRows, type Sql } from '@glovebox/database';

/** Drops ended runs, and returns the number of rows. */
export const dropOldRuns = (sql: Sql, keptDays: number, rowsMax: number): Promise<number> =>
  dropOldRows(sql, 'ended_runs', keptDays, rowsMax);

/** Drops ended webhooks, and returns the number of rows. */
export const dropOldDeliveries = (sql: Sql, keptDays: number, rowsMax: number): Promise<number> =>
  dropOldRows(sql, 'ended_deliveries', keptDays, rowsMax);

/** Deletes texts of code that neither runs nor anything in force refer to, and returns their number. */
export async function deleteCodeTexts(
  sql: Sql,
  runsKeptDays: number,
  rowsMax: number,
): Promise<number> {
  const [row] = await sql.query<{ deleted: string }>(
    'SELECT delete_code_texts($1, $2) AS deleted',
    [runsKeptDays, rowsMax],
  );
  return Number(row?.deleted ?? 0);
}

/** Deletes paths of webhooks that no attempt has gone to for a day, and returns their number. */
export async function forgetFailingPaths(sql: Sql, rowsMax: number): Promise<number> {
  const forgotten = await sql.query(
    `DELETE FROM failing_webhook_paths WHERE (tenant_id, path) IN (
       SELECT tenant_id, path FROM failing_webhook_paths
       WHERE failed_at < now() - interval '1 day'
       ORDER BY failed_at LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING path`,
    [rowsMax],
  );
  return forgotten.length;
}
