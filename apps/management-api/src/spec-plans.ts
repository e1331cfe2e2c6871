import type { Sql } from '@glovebox/database';

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Plan[];
}

/** How Postgres would read a table for a statement: the kinds of the plan's nodes on it. */
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

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}
