import type { Queue } from 'bullmq';
import { timeOrderedId, type Sql } from '@glovebox/database';
import { Problem } from '@glovebox/problems';
import type { Place, Sealer } from '@glovebox/seal';
import type { Arguments } from './invoke-reactor';

/** All that an async run will need, stored before its 202. */
export interface NewRun {
  readonly tenantId: string;
  readonly reactorId: string;
  readonly actorId: string;
  /** The arguments as received. Their expressions are expanded when the run starts. */
  readonly args: Arguments;
  readonly callbackUrl: string;
  readonly timeoutMs: number;
  readonly traceId: string;
}

/** The queue that reminds workers of tenants with due rows. Rows decide; jobs may be lost. */
export const runQueue = {
  name: 'runs',
  prefix: '{glovebox}',
  options: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
} as const;

/** The sign of life of the workers. Nobody calls a worker, so nobody would notice that all died. */
export const workerAliveKey = '{glovebox}:worker:alive';

/**
 * Inserts a run that is due at once, and returns its id. A tenant may have `pendingMax` runs and
 * webhooks waiting, because each holds up to a mebibyte. Concurrent inserts may exceed this number.
 */
export async function insertRun(
  sql: Sql,
  sealer: Sealer,
  run: NewRun,
  pendingMax: number,
): Promise<string> {
  const now = Date.now();
  const id = timeOrderedId(now);
  const [args, callbackUrl] = await Promise.all([
    sealer.seal(runPlace(run.tenantId, id, 'arguments'), JSON.stringify(run.args)),
    sealer.seal(runPlace(run.tenantId, id, 'callback_url'), run.callbackUrl),
  ]);
  const inserted = await sql.query(
    `INSERT INTO reactor_runs (id, tenant_id, reactor_id, actor_id, status, arguments, callback_url,
       timeout_ms, trace_id, created_at, due_at)
     SELECT $1, $2::uuid, $3, $4, 'pending', $5, $6, $7, $8, $10, now()
     WHERE (SELECT count(*) FROM (
         SELECT 1 FROM reactor_runs WHERE tenant_id = $2 AND status = 'pending' LIMIT $9) r)
       + (SELECT count(*) FROM (
         SELECT 1 FROM webhook_deliveries WHERE tenant_id = $2 AND status = 'pending' LIMIT $9) d)
       < $9
     RETURNING id`,
    [
      id,
      run.tenantId,
      run.reactorId,
      run.actorId,
      args,
      callbackUrl,
      run.timeoutMs,
      run.traceId,
      pendingMax,
      // Lists look for the time in the id.
      new Date(now),
    ],
  );
  if (inserted.length === 0) {
    throw new Problem('share_exhausted', {
      detail: 'Too many runs and webhooks of this tenant are waiting.',
      retryAfterSeconds: 1,
    });
  }
  return id;
}

/**
 * Reminds a worker that the tenant has a due run. The job id is the tenant's id, so there is one
 * job however many runs wait. The job leaves Redis before its worker looks for rows. The look
 * therefore finds every run whose own reminder met that job and was ignored.
 */
export async function remindOfRuns(queue: Queue, tenantId: string): Promise<void> {
  await queue.add('due', { tenantId }, { jobId: tenantId });
}

/** The place that a sealed column of a run is bound to. */
export function runPlace(
  tenantId: string,
  record: string,
  column: 'arguments' | 'callback_url',
): Place {
  return { table: 'reactor_runs', column, tenantId, record };
}
