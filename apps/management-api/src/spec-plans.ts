import type { Sql } from '@glovebox/database';

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
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
  const [row] = await sql.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `EXPLAIN (FORMAT JSON) ${statement}`,
    values,
  );
  return nodesOf(row?.['QUERY PLAN'][0].Plan ?? { 'Node Type': 'none' })
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

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}
