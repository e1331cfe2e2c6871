import type { Sql } from './database';

// Functions of the owner of the tables: docs/adr/0042-logs-are-dropped-by-partition.md

/** Makes the partitions of the coming days. A row without one is stored in a slower place. */
export async function makePartitions(sql: Sql): Promise<void> {
  await sql.query('SELECT make_partitions()');
}

/** Drops what a partitioned table keeps no longer, at most a partition, and returns its rows. */
export async function dropOldRows(
  sql: Sql,
  log: string,
  keptDays: number,
  rowsMax: number,
): Promise<number> {
  const [row] = await sql.query<{ dropped: string }>(
    'SELECT drop_old_rows($1, $2, $3) AS dropped',
    [log, keptDays, rowsMax],
  );
  return Number(row?.dropped ?? 0);
}
