interface Statements {
  query(statement: string, values?: readonly unknown[]): Promise<unknown>;
}

interface Transactions<Sql extends Statements> {
  transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
}

/**
 * Runs the work in a transaction in which row-level security shows and takes the tenant's rows
 * alone.
 */
export function transactionAs<Sql extends Statements, Result>(
  database: Transactions<Sql>,
  tenantId: string,
  work: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async (sql) => {
    await sql.query(`SELECT set_config('glovebox.tenant_id', $1, true)`, [tenantId]);
    return work(sql);
  });
}
