import type { Sql } from '@glovebox/database';

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Plan[];
}

/** The kinds of plan nodes by which Postgres would read a table for a statement. */
export async function scansOf(
  sql: Sql,
  table: string,
  statement: string,
  values: readonly unknown[],
): Promise<string[]> {
  const [row] = await sql.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `EXPLAIN (FORMAT JSON) ${statement}`,
    values,
  );
  return nodesOf(row?.['QUERY PLAN'][0].Plan ?? { 'Node Type': 'none' })
    .filter((node) => node['Relation Name'] === table)
    .map((node) => node['Node Type']);
}

/**
 * Vacuums a table, and tells whether every page was marked all-visible. A follower that reads
 * meanwhile prevents that, and then Postgres prefers the whole table to an index-only scan.
 */
export async function vacuum(sql: Sql, table: string): Promise<boolean> {
  await sql.query(`VACUUM ANALYZE ${table}`);
  const [pages] = await sql.query<{ all: number; marked: number }>(
    'SELECT relpages AS all, relallvisible AS marked FROM pg_class WHERE relname = $1',
    [table],
  );
  return pages !== undefined && pages.all > 0 && pages.marked === pages.all;
}

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}
