import type { Sql } from '@glovebox/database';

/** A column of what is selected from a table of runs: the run that a run repeats. */
export const repetitionIn = (runs: string): string => `(SELECT repeats FROM repetitions r
   WHERE r.tenant_id = ${runs}.tenant_id AND r.run_id = ${runs}.id) AS "rerunOf"`;

/** In the transaction that accepts the repetition. */
export async function recordRepetition(
  sql: Sql,
  { tenantId, id, of }: { readonly tenantId: string; readonly id: string; readonly of: string },
): Promise<void> {
  await sql.query('INSERT INTO repetitions (tenant_id, run_id, repeats) VALUES ($1, $2, $3)', [
    ...[tenantId, id, of],
  ]);
}

/** Forgets those of runs that are not in the log any more, and those of deleted tenants. */
export async function deleteOldRepetitions(
  sql: Sql,
  keptDays: number,
  rowsMax: number,
): Promise<number> {
  const [row] = await sql.query<{ deleted: string }>(
    'SELECT delete_old_repetitions($1, $2) AS deleted',
    [keptDays, rowsMax],
  );
  return Number(row?.deleted ?? 0);
}
