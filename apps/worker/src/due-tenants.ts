import type { Sql } from '@glovebox/database';

/** The tables of due work, and the column that says when a pending row is due. */
export const dueColumns = {
  reactor_runs: 'due_at',
  webhook_deliveries: 'next_attempt_at',
} as const;

export type DueTable = keyof typeof dueColumns;

/**
 * The body of a recursive `first`: the pending row of each tenant that is due first. One step into
 * the index for each tenant, however many rows it has.
 */
export function firstOfEachTenant(table: DueTable): string {
  const due = dueColumns[table];
  return `(SELECT tenant_id, ${due} FROM ${table} WHERE status = 'pending'
     ORDER BY tenant_id, ${due} LIMIT 1)
    UNION ALL
    SELECT next.* FROM first, LATERAL (
      SELECT tenant_id, ${due} FROM ${table}
      WHERE status = 'pending' AND tenant_id > first.tenant_id
      ORDER BY tenant_id, ${due} LIMIT 1) next`;
}

/** The tenants that have a due row. */
export async function tenantsWithDueRows(sql: Sql, table: DueTable): Promise<string[]> {
  const rows = await sql.query<{ tenantId: string }>(
    `WITH RECURSIVE first AS (${firstOfEachTenant(table)})
     SELECT tenant_id AS "tenantId" FROM first WHERE ${dueColumns[table]} <= now()`,
  );
  return rows.map(({ tenantId }) => tenantId);
}
