import type { Sql } from '@glovebox/database';

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
}

/**
 * The kinds of plan nodes by which Postgres would read a table for a statement, or the partitions
 * of a table that have rows.
 */
export async function scansOf(
  sql: Sql,
  table: string,
  statement: string,
  values: readonly unknown[],
): Promise<string[]> {
  const parts = await sql.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_partition_tree($1) t JOIN pg_class c ON c.oid = t.relid
     WHERE t.level > 0 AND c.reltuples > 0`,
    [table],
  );
  const names = [table, ...parts.map(({ name }) => name)];
  return (await nodesOf(sql, 'FORMAT JSON', statement, values))
    .filter((node) => names.includes(node['Relation Name'] ?? ''))
    .map((node) => node['Node Type']);
}

/**
 * Vacuums a table with its partitions, and tells whether every page was marked all-visible. A follower that reads
 * meanwhile prevents that, and then Postgres prefers the whole table to an index-only scan.
 */
export async function vacuum(sql: Sql, table: string): Promise<boolean> {
  await sql.query(`VACUUM ANALYZE ${table}`);
  const [pages] = await sql.query<{ all: number; marked: number }>(
    `SELECT sum(relpages)::int AS all, sum(relallvisible)::int AS marked FROM pg_class
     WHERE oid = $1::regclass AND relkind = 'r'
       OR oid IN (SELECT relid FROM pg_partition_tree($1) WHERE isleaf)`,
    [table],
  );
  return pages !== undefined && pages.all > 0 && pages.marked === pages.all;
}

/** Runs statements as `sql` does. Each one that only reads leaves the number of rows that it read. */
export function countingSql(sql: Sql): Sql & { readonly rowsRead: number[] } {
  const rowsRead: number[] = [];
  return {
    rowsRead,
    async query(statement, values = []) {
      const text = typeof statement === 'string' ? statement : statement.text;
      if (!/^EXPLAIN|INSERT/.test(text)) {
        const nodes = await nodesOf(sql, 'ANALYZE, FORMAT JSON', text, values);
        rowsRead.push(nodes.reduce((sum, node) => sum + readBy(node), 0));
      }
      return sql.query(statement, values);
    },
  };
}

function readBy(node: Plan): number {
  if (node['Relation Name'] === undefined) return 0;
  const { 'Actual Rows': found = 0, 'Rows Removed by Filter': refused = 0 } = node;
  return (found + refused) * (node['Actual Loops'] ?? 1);
}

async function nodesOf(
  sql: Sql,
  options: string,
  statement: string,
  values: readonly unknown[],
): Promise<Plan[]> {
  const [row] = await sql.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `EXPLAIN (${options}) ${statement}`,
    values,
  );
  return row ? within(row['QUERY PLAN'][0].Plan) : [];
}

function within(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(within)];
}
