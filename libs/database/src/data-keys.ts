import type { Sql } from './database';

interface DataKeyRow {
  id: string;
  tenantId: string;
  period: string;
  masterVersion: number;
  wrapped: Buffer;
}

const columns = `id, tenant_id AS "tenantId", period, master_version AS "masterVersion", wrapped`;

/** The table of wrapped data keys, in the shape that `seal` asks for. */
export function dataKeyTable(sql: Sql): {
  byId(id: string): Promise<DataKeyRow | undefined>;
  claim(candidate: DataKeyRow): Promise<DataKeyRow>;
} {
  return {
    async byId(id) {
      const [row] = await sql.query<DataKeyRow>(`SELECT ${columns} FROM data_keys WHERE id = $1`, [
        id,
      ]);
      return row;
    },

    async claim({ id, tenantId, period, masterVersion, wrapped }) {
      await sql.query(
        `INSERT INTO data_keys (id, tenant_id, period, master_version, wrapped)
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (tenant_id, period) DO NOTHING`,
        [id, tenantId, period, masterVersion, wrapped],
      );
      const [row] = await sql.query<DataKeyRow>(
        `SELECT ${columns} FROM data_keys WHERE tenant_id = $1 AND period = $2`,
        [tenantId, period],
      );
      if (!row) throw new Error('A data key was neither stored nor found');
      return row;
    },
  };
}
