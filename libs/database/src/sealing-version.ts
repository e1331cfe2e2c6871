import type { Sql } from './database';

/**
 * The version of the master key that seals. It stays the one until the end of the transaction: what
 * is sealed with it and written there is committed before a rotation begins to look for it. In a new
 * installation it becomes the newest version that the first process has.
 */
export async function sealingVersion(sql: Sql, newestVersion: number): Promise<number> {
  const [row] = await sql.query<{ version: number }>(`SELECT sealing_version($1) AS version`, [
    newestVersion,
  ]);
  if (!row) throw new Error('The database does not say which master key seals');
  return row.version;
}

/** From the moment that this returns, nothing that an older master key sealed is committed any more. */
export async function raiseSealingVersion(sql: Sql, version: number): Promise<void> {
  await sql.query(`SELECT raise_sealing_version($1)`, [version]);
}

/** Of these master keys, those that seal something in Postgres now. */
export async function neededOf(sql: Sql, masterVersions: readonly number[]): Promise<number[]> {
  const rows = await sql.query<{ master: number }>(
    `SELECT master FROM unnest($1::int[]) AS asked (master)
     WHERE EXISTS (SELECT 1 FROM data_keys WHERE master_version = master)
        OR EXISTS (SELECT 1 FROM definition_log WHERE master_version_of(payload) = master)`,
    [masterVersions],
  );
  return rows.map(({ master }) => master);
}

/** How much each master key seals, in Postgres. Version 0: damaged, no ring opens it. */
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
