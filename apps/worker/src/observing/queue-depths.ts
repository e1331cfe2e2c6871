import type { Sql } from '@glovebox/database';
import { Gauge, type Registry } from '@glovebox/service-host';
import { dueColumns, firstOfEachTenant, type DueTable } from '../due-tenants';

/** Rows are counted up to this number. Above it, the depth of a queue is not known. */
export const countedRowsMax = 10_000;
/** A depth is read again after this time at the earliest, however often somebody looks. */
const freshMs = 5_000;

interface Depth {
  readonly due: number;
  /** Without what is under way. */
  readonly later: number;
  /** How long the oldest row has been due. 0: none is. */
  readonly oldestDueSeconds: number;
}

const queues = { runs: 'reactor_runs', deliveries: 'webhook_deliveries' } as const;

/**
 * Counts what waits, up to a number: one step into the index for each tenant, and one for each row
 * that is counted.
 */
export async function depthOf(sql: Sql, table: DueTable): Promise<Depth> {
  const due = dueColumns[table];
  const isIdle = table === 'webhook_deliveries' ? 'AND place IS NULL' : '';
  // In the order of the index, so that Postgres reads no other rows, whatever it expects to find.
  const counted = (which: string): string =>
    `(SELECT count(*) FROM (
       SELECT FROM first CROSS JOIN LATERAL (
         SELECT FROM ${table} waiting
         WHERE waiting.tenant_id = first.tenant_id AND status = 'pending' AND ${which}
         ORDER BY waiting.tenant_id, waiting.${due} LIMIT ${countedRowsMax}) row
       LIMIT ${countedRowsMax}) rows)::int`;
  const [depth] = await sql.query<Depth>(
    `WITH RECURSIVE first AS (${firstOfEachTenant(table)})
     SELECT ${counted(`waiting.${due} <= now()`)} AS due,
       ${counted(`waiting.${due} > now() ${isIdle}`)} AS later,
       greatest(extract(epoch FROM now() - min(${due})), 0)::float8 AS "oldestDueSeconds"
     FROM first`,
  );
  return { due: 0, later: 0, ...depth, oldestDueSeconds: depth?.oldestDueSeconds ?? 0 };
}

/** Observes what waits in Postgres. All workers see the same. While it is away they show nothing. */
export function observeQueueDepths(registry: Registry, sql: Sql): void {
  let readAt = -Infinity;
  let reading = Promise.resolve<readonly (readonly [queue: string, depth: Depth])[]>([]);
  const depths = (): typeof reading => {
    if (performance.now() - readAt >= freshMs) {
      readAt = performance.now();
      const reads = Object.entries(queues).map(
        async ([queue, table]) => [queue, await depthOf(sql, table)] as const,
      );
      reading = Promise.all(reads).catch(() => []);
    }
    return reading;
  };
  new Gauge({
    name: 'glovebox_worker_queue_rows',
    help: `Rows that wait, of all workers; ${countedRowsMax}: or more`,
    labelNames: ['queue', 'state'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const [queue, { due, later }] of await depths()) {
        this.set({ queue, state: 'due' }, due);
        this.set({ queue, state: 'later' }, later);
      }
    },
  });
  new Gauge({
    name: 'glovebox_worker_queue_oldest_due_seconds',
    help: 'How long the oldest row has been due, of all workers',
    labelNames: ['queue'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const [queue, { oldestDueSeconds }] of await depths()) {
        this.set({ queue }, oldestDueSeconds);
      }
    },
  });
}
