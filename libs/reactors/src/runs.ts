import { randomUUID } from 'node:crypto';
import type { Queue } from 'bullmq';
import type { Database, Sql } from '@glovebox/database';
import type { Place, Sealer } from '@glovebox/seal';

/** What an async invocation leaves behind before its 202: all that the run will need. */
export interface NewRun {
  readonly tenantId: string;
  readonly reactorId: string;
  readonly actorId: string;
  /** As received: expressions are not expanded here. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly callbackUrl: string;
  readonly timeoutMs: number;
  readonly traceId: string;
}

/** A run that this process owns, as long as nobody else has claimed it since. */
export interface ClaimedRun extends NewRun {
  readonly id: string;
  readonly fence: number;
  /** The code of an earlier claim had started: its effects are unknown. */
  readonly startedBefore: boolean;
  /** How often something that was not the run's own fault kept its code from running. */
  readonly faults: number;
}

/** Names of the queue that reminds workers of rows. Rows decide; jobs may be lost or doubled. */
export const runQueue = {
  name: 'runs',
  prefix: '{glovebox}',
  options: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
} as const;

/** The sign of life of the workers: nobody calls them, so nobody would see them die. */
export const workerAliveKey = '{glovebox}:worker:alive';

export async function insertRun(sql: Sql, sealer: Sealer, run: NewRun): Promise<string> {
  const id = randomUUID();
  const [args, callbackUrl] = await Promise.all([
    sealer.seal(placeOf(run.tenantId, id, 'arguments'), JSON.stringify(run.args)),
    sealer.seal(placeOf(run.tenantId, id, 'callback_url'), run.callbackUrl),
  ]);
  await sql.query(
    `INSERT INTO reactor_runs
       (id, tenant_id, reactor_id, actor_id, status, arguments, callback_url, timeout_ms, trace_id, created_at)
     VALUES ($1, $2, $3, $4, 'pending', $5, $6, $7, $8, now())`,
    [id, run.tenantId, run.reactorId, run.actorId, args, callbackUrl, run.timeoutMs, run.traceId],
  );
  return id;
}

/** How long a silent worker keeps a run. It renews the lease three times in that span. */
export const leaseSeconds = 15;

interface RunRow {
  tenantId: string;
  reactorId: string;
  actorId: string;
  args: Buffer;
  callbackUrl: Buffer;
  timeoutMs: number;
  traceId: string;
  fence: string;
  startedBefore: boolean;
  faults: number;
}

/** Takes a pending run, or one whose worker has gone silent. Undefined: somebody else has it. */
export async function claimRun(
  sql: Sql,
  sealer: Sealer,
  id: string,
): Promise<ClaimedRun | undefined> {
  const [row] = await sql.query<RunRow>(
    `UPDATE reactor_runs
     SET status = 'running', fence = fence + 1, lease_until = now() + $2 * interval '1 second'
     WHERE id = $1 AND (status = 'pending' OR (status = 'running' AND lease_until < now()))
     RETURNING tenant_id AS "tenantId", reactor_id AS "reactorId", actor_id AS "actorId",
       arguments AS args, callback_url AS "callbackUrl", timeout_ms AS "timeoutMs",
       trace_id AS "traceId", fence, started_at IS NOT NULL AS "startedBefore", faults`,
    [id, leaseSeconds],
  );
  if (!row) return undefined;
  const fence = Number(row.fence);
  try {
    const [args, callbackUrl] = await Promise.all([
      sealer.open(placeOf(row.tenantId, id, 'arguments'), row.args),
      sealer.open(placeOf(row.tenantId, id, 'callback_url'), row.callbackUrl),
    ]);
    return {
      ...row,
      id,
      fence,
      args: JSON.parse(args.toString('utf8')) as Record<string, unknown>,
      callbackUrl: callbackUrl.toString('utf8'),
    };
  } catch (error) {
    await giveUpOrRelease(sql, { id, fence }, row.faults);
    throw error;
  }
}

/** A run that met so many faults before its code could start is broken itself. */
export const faultsMax = 5;

/** What cannot be opened has no callback to report to: in the end it is only marked. */
async function giveUpOrRelease(
  sql: Sql,
  run: { id: string; fence: number },
  faults: number,
): Promise<void> {
  if (faults < faultsMax) return releaseRun(sql, run, 'fault');
  await sql.query(
    `UPDATE reactor_runs SET status = 'failed', finished_at = now(), lease_until = NULL
     WHERE id = $1 AND fence = $2 AND status = 'running'`,
    [run.id, run.fence],
  );
}

/** False: the run was claimed by another worker meanwhile, and this one must let go of it. */
export async function renewRun(sql: Sql, run: ClaimedRun): Promise<boolean> {
  const rows = await sql.query(
    `UPDATE reactor_runs SET lease_until = now() + $3 * interval '1 second'
     WHERE id = $1 AND fence = $2 AND status = 'running' RETURNING id`,
    [run.id, run.fence, leaseSeconds],
  );
  return rows.length > 0;
}

/** Later: there was no capacity, or no store. A fault: something broke that should not. */
export type ReleaseReason = 'later' | 'fault';

/** Gives a run back whose code has not run, to be tried again soon. */
export async function releaseRun(
  sql: Sql,
  run: Pick<ClaimedRun, 'id' | 'fence'>,
  reason: ReleaseReason,
): Promise<void> {
  await sql.query(
    `UPDATE reactor_runs
     SET status = 'pending', started_at = NULL, lease_until = NULL, faults = faults + $3
     WHERE id = $1 AND fence = $2 AND status = 'running'`,
    [run.id, run.fence, reason === 'fault' ? 1 : 0],
  );
}

/** From here on the code may have had effects: the run is not started a second time. */
export async function markStarted(sql: Sql, run: ClaimedRun): Promise<boolean> {
  const rows = await sql.query(
    `UPDATE reactor_runs SET started_at = now()
     WHERE id = $1 AND fence = $2 AND status = 'running' RETURNING id`,
    [run.id, run.fence],
  );
  return rows.length > 0;
}

/**
 * Ends a run and leaves its webhook, in one transaction. Undefined when the run was claimed by
 * another worker meanwhile: a late result is dropped.
 */
export async function finishRun(
  database: Database,
  sealer: Sealer,
  run: ClaimedRun,
  result: { readonly status: 'completed' | 'failed'; readonly body: string },
): Promise<string | undefined> {
  const deliveryId = randomUUID();
  const delivery = (column: string): Place => ({
    table: 'webhook_deliveries',
    column,
    tenantId: run.tenantId,
    record: deliveryId,
  });
  const [sealedResult, body, callbackUrl] = await Promise.all([
    sealer.seal(placeOf(run.tenantId, run.id, 'result'), result.body),
    sealer.seal(delivery('body'), result.body),
    sealer.seal(delivery('callback_url'), run.callbackUrl),
  ]);
  return database.transaction(async (sql) => {
    const finished = await sql.query(
      `UPDATE reactor_runs SET status = $3, result = $4, finished_at = now(), lease_until = NULL
       WHERE id = $1 AND fence = $2 AND status = 'running' RETURNING id`,
      [run.id, run.fence, result.status, sealedResult],
    );
    if (finished.length === 0) return undefined;
    await sql.query(
      `INSERT INTO webhook_deliveries
         (id, tenant_id, run_id, webhook_id, callback_url, body, status, next_attempt_at, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, 'pending', now(), now())`,
      [deliveryId, run.tenantId, run.id, `msg_${run.id}`, callbackUrl, body],
    );
    return deliveryId;
  });
}

/**
 * Reminds a worker of a run. The job is named by the claims that the run has seen: the job of a
 * worker that died is still there and would hide one of the same name.
 */
export async function remindOfRun(queue: Queue, run: { id: string; fence: number }): Promise<void> {
  await queue.add('run', { runId: run.id }, { jobId: `${run.id}-${run.fence}` });
}

/** Runs that no job speaks for: their job was lost, or their worker has gone silent. */
export async function forgottenRuns(
  sql: Sql,
  limit: number,
): Promise<{ id: string; fence: number }[]> {
  const rows = await sql.query<{ id: string; fence: string }>(
    `SELECT id, fence FROM reactor_runs
     WHERE (status = 'pending' AND created_at < now() - interval '2 seconds')
        OR (status = 'running' AND lease_until < now())
     ORDER BY created_at LIMIT $1`,
    [limit],
  );
  return rows.map(({ id, fence }) => ({ id, fence: Number(fence) }));
}

function placeOf(tenantId: string, record: string, column: string): Place {
  return { table: 'reactor_runs', column, tenantId, record };
}
