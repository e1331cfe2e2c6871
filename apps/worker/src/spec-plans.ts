import type { Sql, SqlPool, Statement } from '@glovebox/database';

interface Plan {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
}

/** Rows that the nodes of a plan read from tables, those that a filter removed included. */
function rowsRead(plan: Plan): number {
  const { 'Actual Rows': handedOn, 'Actual Loops': loops, Plans = [] } = plan;
  const own = / Scan$/.test(plan['Node Type'])
    ? (handedOn + (plan['Rows Removed by Filter'] ?? 0)) * loops
    : 0;
  return Plans.reduce((sum, part) => sum + rowsRead(part), own);
}

/** The text of a value. Postgres reads it as what the statement expects. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  return `'${textOf(value).replaceAll("'", "''")}'`;
}

function textOf(value: unknown): string {
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  if (value instanceof Date) return value.toISOString();
  if (!Array.isArray(value)) return String(value);
  const elements = (value as unknown[]).map((element) =>
    element === null ? 'NULL' : JSON.stringify(textOf(element)),
  );
  return `{${elements.join(',')}}`;
}

/**
 * Runs each statement twice: first to tell how many rows it reads, then for its answer. A statement
 * with a name keeps its plan on its connection, as it does in a worker.
 */
export const explaining = (
  database: SqlPool,
  onRead: (rows: number, name: string) => void,
): Sql => ({
  async query(statement, values = []) {
    const name = typeof statement === 'string' ? 'without a name' : statement.name;
    const explained = database.transaction(async (sql) => {
      await prepare(sql, `explained ${name}`, statement);
      const given = values.length === 0 ? '' : `(${values.map(literal).join(', ')})`;
      const [row] = await sql.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE "explained ${name}"${given}`,
      );
      if (row) onRead(rowsRead(row['QUERY PLAN'][0].Plan), name);
      if (typeof statement === 'string') await sql.query(`DEALLOCATE "explained ${name}"`);
      throw new Error('explained');
    });
    await expect(explained).rejects.toThrow('explained');
    return database.query(statement, values);
  },
});

async function prepare(sql: Sql, name: string, statement: Statement): Promise<void> {
  const [known] = await sql.query('SELECT 1 FROM pg_prepared_statements WHERE name = $1', [name]);
  const text = typeof statement === 'string' ? statement : statement.text;
  if (!known) await sql.query(`PREPARE "${name}" AS ${text}`);
}
