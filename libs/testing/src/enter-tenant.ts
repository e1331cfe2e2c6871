interface Sql {
  query(statement: string, values: readonly unknown[]): Promise<unknown>;
}

/** Makes the rest of a transaction the tenant's: row-level security shows its rows alone. */
export async function enterTenant(sql: Sql, tenantId: string): Promise<void> {
  await sql.query(`SELECT set_config('glovebox.tenant_id', $1, true)`, [tenantId]);
}
