import { readerVersion, type Sql } from '@glovebox/database';

export type QueueName = 'runs' | 'deliveries';

/** A row of a newer release stays due: a worker of that release understands it (docs/adr/0083). */
export const isUnderstood = `reader_version <= ${readerVersion}`;

/** The table of each queue, and the column that says when a pending row is due. */
const queues = {
  runs: { table: 'reactor_runs', due: 'due_at', isIdle: '' },
  deliveries: {
    table: 'webhook_deliveries',
    due: 'next_attempt_at',
    isIdle: 'AND place IS NULL',
  },
} as const;

/**
 * The body of a recursive `first`: the pending row of each tenant that is due first. One step into
 * the index for each tenant, however many rows it has.
 */
function firstOfEachTenant(queue: QueueName): string {
  const { table, due } = queues[queue];
  return `(SELECT tenant_id, ${due} FROM ${table} WHERE status = 'pending'
     ORDER BY tenant_id, ${due} LIMIT 1)
    UNION ALL
    SELECT next.* FROM first, LATERAL (
      SELECT tenant_id, ${due} FROM ${table}
      WHERE status = 'pending' AND tenant_id > first.tenant_id
      ORDER BY tenant_id, ${due} LIMIT 1) next`;
}

/** The tenants that have a due row. */
export async function tenantsWithDueRows(sql: Sql, queue: QueueName): Promise<string[]> {
  const rows = await sql.query<{ tenantId: string }>(
    `WITH RECURSIVE first AS (${firstOfEachTenant(queue)})
     SELECT tenant_id AS "tenantId" FROM first WHERE ${queues[queue].due} <= now()`,
  );
  return rows.map(({ tenantId }) => tenantId);
}

/** Rows are counted up to this number. Above it, the depth of a queue is not known. */
export const countedRowsMax = 10_000;

export interface QueueDepth {
  readonly due: number;
  /** Without what is under way. */
  readonly later: number;
  /** Waits for an operator. */
  readonly held: number;
  /** How long the oldest row has been due. 0: none is. */
  readonly oldestDueSeconds: number;
}

/**
 * Counts what waits, up to a number: one step into the index for each tenant, and one for each row
 * that is counted.
 */
export async function depthOf(sql: Sql, queue: QueueName): Promise<QueueDepth> {
  const { table, due, isIdle } = queues[queue];
  // In the order of the index, so that Postgres reads no other rows, whatever it expects to find.
  const counted = (which: string): string =>
    `(SELECT count(*) FROM (
       SELECT FROM first CROSS JOIN LATERAL (
         SELECT FROM ${table} waiting
         WHERE waiting.tenant_id = first.tenant_id AND status = 'pending' AND ${which}
         ORDER BY waiting.tenant_id, waiting.${due} LIMIT ${countedRowsMax}) row
       LIMIT ${countedRowsMax}) rows)::int`;
  const [depth] = await sql.query<QueueDepth>(
    `WITH RECURSIVE first AS (${firstOfEachTenant(queue)})
     SELECT ${counted(`waiting.${due} <= now()`)} AS due,
       ${counted(`waiting.${due} > now() ${isIdle}`)} AS later,
       (SELECT count(*)::int FROM (
         SELECT FROM ${table} WHERE status = 'held'
         ORDER BY tenant_id, id LIMIT ${countedRowsMax}) rows) AS held,
       greatest(extract(epoch FROM now() - min(${due})), 0)::float8 AS "oldestDueSeconds"
     FROM first`,
  );
  return { due: 0, later: 0, held: 0, ...depth, oldestDueSeconds: depth?.oldestDueSeconds ?? 0 };
}

/** Counts the runs and webhooks of a tenant that wait, up to a number. Both are parameters. */
export const waitingRows = (tenantId: string, max: string): string =>
  Object.values(queues)
    .map(
      ({ table }) => `(SELECT count(*) FROM (
         SELECT FROM ${table} WHERE tenant_id = ${tenantId} AND status = 'pending'
         LIMIT ${max}) waiting)`,
    )
    .join(' + ');

export async function countWaiting(sql: Sql, tenantId: string, max: number): Promise<number> {
  const [row] = await sql.query<{ waiting: number }>(
    `SELECT (${waitingRows('$1', '$2')})::int AS waiting`,
    [tenantId, max],
  );
  return row?.waiting ?? 0;
}

/** What a tenant has in a queue. No number is above `countedRowsMax`. */
export interface TenantQueue {
  /** Waits, or is sent at the moment. */
  readonly pending: number;
  /** Those of the pending whose last attempt failed. */
  readonly failing: number;
  readonly running: number;
  readonly held: number;
  /** When the oldest row that nobody has taken was due. Null: none is. */
  readonly oldestDueAt: Date | null;
}

/** Counts a tenant's own rows, each kind from an index. */
export async function queueOfTenant(
  sql: Sql,
  tenantId: string,
  queue: QueueName,
): Promise<TenantQueue> {
  const { table, due, isIdle } = queues[queue];
  const isFailing = queue === 'deliveries' ? 'attempts > 0' : 'false';
  const first = (status: string, order: string): string =>
    `(SELECT * FROM ${table} WHERE tenant_id = $1 AND status = '${status}' ${order}
      LIMIT ${countedRowsMax}) rows`;
  const [row] = await sql.query<TenantQueue>(
    `SELECT p.pending, p.failing,
       (SELECT count(*)::int FROM ${first('running', '')}) AS running,
       (SELECT count(*)::int FROM ${first('held', 'ORDER BY tenant_id, id')}) AS held,
       (SELECT min(${due}) FROM ${table}
        WHERE tenant_id = $1 AND status = 'pending' AND ${due} <= now() ${isIdle}) AS "oldestDueAt"
     FROM (
       SELECT count(*)::int AS pending, (count(*) FILTER (WHERE ${isFailing}))::int AS failing
       FROM ${first('pending', `ORDER BY tenant_id, ${due}`)}) p`,
    [tenantId],
  );
  if (!row) throw new Error('A count has one row');
  return row;
}
