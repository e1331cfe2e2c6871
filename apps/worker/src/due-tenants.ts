import type { Sql } from '@glovebox/database';

/** The tables of due work, and the column that says when a pending row is due. */
const dueColumns = { reactor_runs: 'due_at', webhook_deliveries: 'next_attempt_at' } as const;

/**
 * The tenants that have a due row. One step into the index for each, however many rows they have.
 */
export async function tenantsWithDueRows(
  sql: Sql,
  table: keyof typeof dueColumns,
): Promise<string[]> {
  const due = dueColumns[table];
  const rows = await sql.query<{ tenantId: string }>(
    `WITH RECURSIVE first AS (
       (SELECT tenant_id, ${due} FROM ${table} WHERE status = 'pending'
        ORDER BY tenant_id, ${due} LIMIT 1)
       UNION ALL
       SELECT next.* FROM first, LATERAL (
         SELECT tenant_id, ${due} FROM ${table}
         WHERE status = 'pending' AND tenant_id > first.tenant_id
         ORDER BY tenant_id, ${due} LIMIT 1) next
     )
     SELECT tenant_id AS "tenantId" FROM first WHERE ${due} <= now()`,
  );
  return rows.map(({ tenantId }) => tenantId);
}
