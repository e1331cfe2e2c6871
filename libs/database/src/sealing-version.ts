import type { Sql } from './database';

/**
 * Returns the version of the master key that seals. It stays the same until the end of the
 * transaction: a value that is sealed and written there is committed before a rotation begins to
 * look for it. A new installation takes the newest version of its first process.
 */
export async function sealingVersion(sql: Sql, newestVersion: number): Promise<number> {
  const [row] = await sql.query<{ version: number }>(`SELECT sealing_version($1) AS version`, [
    newestVersion,
  ]);
  if (!row) throw new Error('The database does not say which master key seals');
  return row.version;
}

/** Once this has returned, no more values sealed by an older master key are committed. */
export async function raiseSealingVersion(sql: Sql, version: number): Promise<void> {
  await sql.query(`SELECT raise_sealing_version($1)`, [version]);
}

/** Returns those of the master keys that seal something in Postgres now. */
export async function neededOf(sql: Sql, masterVersions: readonly number[]): Promise<number[]> {
  const rows = await sql.query<{ master: number }>(
    `SELECT master FROM unnest($1::int[]) AS asked (master)
     WHERE EXISTS (SELECT 1 FROM data_keys WHERE master_version = master)
        OR EXISTS (SELECT 1 FROM definition_log WHERE master_version_of(payload) = master)`,
    [masterVersions],
  );
  return rows.map(({ master }) => master);
}

/**
 * Counts of sealed values by master key, in Postgres. Version 0: the value is damaged, and no ring
 * opens it.
 */
interface SealedCount {
  readonly version: number;
  readonly dataKeys: number;
  readonly definitions: number;
}

export function sealedCounts(sql: Sql): Promise<SealedCount[]> {
  return sql.query<SealedCount>(
    `SELECT version, sum(data_keys)::int AS "dataKeys", sum(definitions)::int AS definitions FROM (
       SELECT coalesce(master_version_of(wrapped), 0) AS version, 1 AS data_keys, 0 AS definitions
       FROM data_keys
       UNION ALL
       SELECT coalesce(master_version_of(payload), 0), 0, 1
       FROM definition_log WHERE payload IS NOT NULL
     ) AS sealed GROUP BY version ORDER BY version`,
  );
}
