import type { Sql, SqlPool } from '@glovebox/database';

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

/** Runs each statement twice: first to tell how many rows it reads, then for its answer. */
export const explaining = (database: SqlPool, onRead: (rows: number) => void): Sql => ({
  async query(statement, values) {
    const explained = database.transaction(async (sql) => {
      const [row] = await sql.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${typeof statement === 'string' ? statement : statement.text}`,
        values,
      );
      if (row) onRead(rowsRead(row['QUERY PLAN'][0].Plan));
      throw new Error('explained');
    });
    await expect(explained).rejects.toThrow('explained');
    return database.query(statement, values);
  },
});
