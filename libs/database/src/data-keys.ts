import type { Sql } from './database';
import { neededOf, sealingVersion } from './sealing-version';

interface DataKeyRow {
  id: string;
  tenantId: string;
  period: string;
  masterVersion: number;
  wrapped: Buffer;
}

interface Candidate {
  id: string;
  tenantId: string;
  period: string;
  newestVersion: number;
  wrap(masterVersion: number): Buffer;
}

const columns = `id, tenant_id AS "tenantId", period, master_version AS "masterVersion", wrapped`;

/**
 * A try that loses to another process finds its key. One that loses to a rotation wraps the key
 * anew.
 */
const claimTriesMax = 5;

/** The table of wrapped data keys, with the methods that `seal` needs. */
export function dataKeyTable(sql: Sql): {
  byId(id: string): Promise<DataKeyRow | undefined>;
  claim(candidate: Candidate): Promise<DataKeyRow>;
  sealingVersion(newestVersion: number): Promise<number>;
  neededOf(masterVersions: readonly number[]): Promise<number[]>;
} {
  return {
    async byId(id) {
      const [row] = await sql.query<DataKeyRow>(`SELECT ${columns} FROM data_keys WHERE id = $1`, [
        id,
      ]);
      return row;
    },

    async claim(candidate) {
      for (let tries = 0; tries < claimTriesMax; tries += 1) {
        const row = (await ofPeriod(sql, candidate)) ?? (await insert(sql, candidate));
        if (row) return row;
      }
      throw new Error('A data key was neither stored nor found');
    },

    sealingVersion: (newestVersion) => sealingVersion(sql, newestVersion),
    neededOf: (masterVersions) => neededOf(sql, masterVersions),
  };
}

/**
 * Returns nothing if another process was first, or if a rotation began after the version was read.
 */
async function insert(sql: Sql, candidate: Candidate): Promise<DataKeyRow | undefined> {
  const { id, tenantId, period, newestVersion, wrap } = candidate;
  const masterVersion = await sealingVersion(sql, newestVersion);
  const [row] = await sql.query<DataKeyRow>(
    `INSERT INTO data_keys (id, tenant_id, period, master_version, wrapped)
     SELECT $1, $2, $3, $4, $5 WHERE sealing_version($6) = $4
     ON CONFLICT (tenant_id, period) DO NOTHING RETURNING ${columns}`,
    [id, tenantId, period, masterVersion, wrap(masterVersion), newestVersion],
  );
  return row;
}

async function ofPeriod(
  sql: Sql,
  { tenantId, period }: { tenantId: string; period: string },
): Promise<DataKeyRow | undefined> {
  const [row] = await sql.query<DataKeyRow>(
    `SELECT ${columns} FROM data_keys WHERE tenant_id = $1 AND period = $2`,
    [tenantId, period],
  );
  return row;
}

/** Reads some of the keys that an older master key wraps, in the order of their ids. */
export function dataKeysBelow(
  sql: Sql,
  masterVersion: number,
  afterId: string,
  limit: number,
): Promise<DataKeyRow[]> {
  return sql.query<DataKeyRow>(
    `SELECT ${columns} FROM data_keys WHERE master_version < $1 AND id > $2 ORDER BY id LIMIT $3`,
    [masterVersion, afterId, limit],
  );
}

/**
 * Replaces only keys that are still wrapped as they were read. Of two rotations at once, the later
 * finds its work done.
 */
export async function replaceWrappedKeys(
  sql: Sql,
  masterVersion: number,
  keys: readonly { id: string; was: Buffer; wrapped: Buffer }[],
): Promise<number> {
  const replaced = await sql.query(
    `UPDATE data_keys k SET wrapped = new.wrapped, master_version = $1
     FROM unnest($2::uuid[], $3::bytea[], $4::bytea[]) AS new (id, was, wrapped)
     WHERE k.id = new.id AND k.wrapped = new.was RETURNING 1`,
    [
      masterVersion,
      keys.map(({ id }) => id),
      keys.map(({ was }) => was),
      keys.map(({ wrapped }) => wrapped),
    ],
  );
  return replaced.length;
}
