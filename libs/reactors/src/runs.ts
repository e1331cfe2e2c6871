import { createHmac, randomUUID } from 'node:crypto';
import type { Queue } from 'bullmq';
import type { Database, Sql } from '@glovebox/database';
import { Problem } from '@glovebox/problems';
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

/** The queue that reminds workers of tenants with due rows. Rows decide; jobs may be lost. */
export const runQueue = {
  name: 'runs',
  prefix: '{glovebox}',
  options: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
} as const;

/** The sign of life of the workers: nobody calls them, so nobody would see them die. */
export const workerAliveKey = '{glovebox}:worker:alive';

/**
 * Refused when the tenant has `pendingMax` runs and webhooks that wait: each of them holds up to a
 * mebibyte. Runs that are inserted at once may pass it together.
 */
export async function insertRun(
  sql: Sql,
  sealer: Sealer,
  run: NewRun,
  pendingMax: number,
): Promise<string> {
  const id = randomUUID();
  const [args, callbackUrl] = await Promise.all([
    sealer.seal(placeOf(run.tenantId, id, 'arguments'), JSON.stringify(run.args)),
    sealer.seal(placeOf(run.tenantId, id, 'callback_url'), run.callbackUrl),
  ]);
  const inserted = await sql.query(
    `INSERT INTO reactor_runs (id, tenant_id, reactor_id, actor_id, status, arguments, callback_url,
       timeout_ms, trace_id, created_at, due_at)
     SELECT $1, $2::uuid, $3, $4, 'pending', $5, $6, $7, $8, now(), now()
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

/** How long a silent worker keeps a run. It renews the lease three times in that span. */
export const leaseSeconds = 15;

/** A run that this process has claimed, still sealed. */
export interface TakenRun {
  id: string;
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

/** Claims the run of the tenant that has been due for longest. Undefined: none is due. */
export async function takeRun(sql: Sql, tenantId: string): Promise<TakenRun | undefined> {
  const [row] = await sql.query<TakenRun>(
    `UPDATE reactor_runs
     SET status = 'running', fence = fence + 1, lease_until = now() + $2 * interval '1 second'
     WHERE id = (
       SELECT id FROM reactor_runs
       WHERE tenant_id = $1 AND status = 'pending' AND due_at <= now()
       ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING id, tenant_id AS "tenantId", reactor_id AS "reactorId", actor_id AS "actorId",
       arguments AS args, callback_url AS "callbackUrl", timeout_ms AS "timeoutMs",
       trace_id AS "traceId", fence, started_at IS NOT NULL AS "startedBefore", faults`,
    [tenantId, leaseSeconds],
  );
  return row;
}

/**
 * Opens what was sealed of the run. One that does not open goes back, and is given up in the end; but
 * not because this process lacks a key or a store, which is no fault of the run.
 */
export async function openRun(sql: Sql, sealer: Sealer, row: TakenRun): Promise<ClaimedRun> {
  const { id } = row;
  const fence = Number(row.fence);
  try {
    const [args, callbackUrl] = await Promise.all([
      sealer.open(placeOf(row.tenantId, id, 'arguments'), row.args),
      sealer.open(placeOf(row.tenantId, id, 'callback_url'), row.callbackUrl),
    ]);
    return {
      ...row,
      fence,
      args: JSON.parse(args.toString('utf8')) as Record<string, unknown>,
      callbackUrl: callbackUrl.toString('utf8'),
    };
  } catch (error) {
    const isNotYet = error instanceof Problem && error.code === 'service_unavailable';
    if (isNotYet) await releaseRun(sql, { id, fence }, 'later');
    else await giveUpOrRelease(sql, { id, fence }, row.faults);
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

/** Gives a run back whose code has not run, to be tried again after a second. */
export async function releaseRun(
  sql: Sql,
  run: Pick<ClaimedRun, 'id' | 'fence'>,
  reason: ReleaseReason,
): Promise<void> {
  await sql.query(
    `UPDATE reactor_runs
     SET status = 'pending', started_at = NULL, lease_until = NULL, faults = faults + $3,
       due_at = now() + interval '1 second'
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
 * Ends a run and leaves its webhook, in one transaction. A late result is dropped: the run was
 * claimed by another worker meanwhile.
 */
export async function finishRun(
  database: Database,
  sealer: Sealer,
  run: ClaimedRun,
  result: { readonly status: 'completed' | 'failed'; readonly body: string },
): Promise<void> {
  const deliveryId = randomUUID();
  const delivery = (column: string): Place => ({
    table: 'webhook_deliveries',
    column,
    tenantId: run.tenantId,
    record: deliveryId,
  });
  const [sealedResult, receiver, body, callbackUrl] = await Promise.all([
    sealer.seal(placeOf(run.tenantId, run.id, 'result'), result.body),
    receiverOf(sealer, run),
    sealer.seal(delivery('body'), result.body),
    sealer.seal(delivery('callback_url'), run.callbackUrl),
  ]);
  await database.transaction(async (sql) => {
    const finished = await sql.query(
      `UPDATE reactor_runs SET status = $3, result = $4, finished_at = now(), lease_until = NULL
       WHERE id = $1 AND fence = $2 AND status = 'running' RETURNING id`,
      [run.id, run.fence, result.status, sealedResult],
    );
    if (finished.length === 0) return;
    await sql.query(
      `INSERT INTO webhook_deliveries
         (id, tenant_id, run_id, webhook_id, callback_url, receiver, body, status, next_attempt_at,
          created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, 'pending', now(), now())`,
      [deliveryId, run.tenantId, run.id, `msg_${run.id}`, callbackUrl, receiver, body],
    );
  });
}

/**
 * What tells the receivers of a tenant apart, and nothing more: the keyed hash of the host. Text, so
 * that a look for deliveries to other receivers opens none.
 */
async function receiverOf(
  sealer: Sealer,
  { tenantId, callbackUrl }: Pick<ClaimedRun, 'tenantId' | 'callbackUrl'>,
): Promise<string> {
  const key = await sealer.lastingKey('receivers');
  const { hostname } = new URL(callbackUrl);
  return createHmac('sha256', key).update(`${tenantId} ${hostname}`).digest('base64url');
}

/**
 * Reminds a worker that the tenant has a due run. The job is named by the tenant: there is one,
 * however many runs wait. It is gone from Redis before its worker looks for rows, so that the look
 * finds every run whose reminder met the job there and was ignored.
 */
export async function remindOfRuns(queue: Queue, tenantId: string): Promise<void> {
  await queue.add('due', { tenantId }, { jobId: tenantId });
}

const silentRunsMax = 1_000;

/** Runs whose worker has gone silent are due again; its fence keeps whatever it still writes out. */
export async function takeBackSilentRuns(sql: Sql): Promise<void> {
  await sql.query(
    `UPDATE reactor_runs SET status = 'pending', lease_until = NULL
     WHERE id IN (
       SELECT id FROM reactor_runs WHERE status = 'running' AND lease_until < now()
       ORDER BY lease_until LIMIT $1 FOR UPDATE SKIP LOCKED)`,
    [silentRunsMax],
  );
}

/** The tenants that have a due run. One step into the index for each, whatever they have waiting. */
export async function tenantsWithDueRuns(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ tenantId: string }>(
    `WITH RECURSIVE first AS (
       (SELECT tenant_id, due_at FROM reactor_runs WHERE status = 'pending'
        ORDER BY tenant_id, due_at LIMIT 1)
       UNION ALL
       SELECT next.* FROM first, LATERAL (
         SELECT tenant_id, due_at FROM reactor_runs
         WHERE status = 'pending' AND tenant_id > first.tenant_id
         ORDER BY tenant_id, due_at LIMIT 1) next
     )
     SELECT tenant_id AS "tenantId" FROM first WHERE due_at <= now()`,
  );
  return rows.map(({ tenantId }) => tenantId);
}

/** How many were deleted of the runs that have ended long ago. */
export async function deleteOldRuns(sql: Sql, keptMs: number, rowsMax: number): Promise<number> {
  const deleted = await sql.query(
    `DELETE FROM reactor_runs WHERE id IN (
       SELECT id FROM reactor_runs WHERE finished_at < now() - $1 * interval '1 millisecond'
       ORDER BY finished_at LIMIT $2) RETURNING id`,
    [keptMs, rowsMax],
  );
  return deleted.length;
}

function placeOf(tenantId: string, record: string, column: string): Place {
  return { table: 'reactor_runs', column, tenantId, record };
}
