import type { Sql } from '@glovebox/database';
import type { TenantDefinition } from '@glovebox/definitions';
import { hopHeader } from '@glovebox/egress';
import type { Place } from '@glovebox/seal';
import type { WorkerContext } from './context';
import { webhookHeaders } from './sign-webhook';

const attemptMs = 15_000;
const retriesMax = 10;
const firstRetryMs = 9_000;

/** A delivery that this process has claimed, still sealed. */
export interface TakenDelivery {
  readonly id: string;
  readonly tenantId: string;
  readonly webhookId: string;
  readonly callbackUrl: Buffer;
  readonly receiver: string;
  readonly body: Buffer;
  readonly attempts: number;
  readonly fence: string;
}

interface OpenedDelivery {
  readonly tenantId: string;
  readonly webhookId: string;
  readonly callbackUrl: string;
  readonly body: string;
  readonly attempts: number;
}

/** What one attempt came to. */
type Verdict =
  | { readonly kind: 'delivered'; readonly outcome: string }
  | { readonly kind: 'failed'; readonly outcome: string }
  | { readonly kind: 'retry'; readonly outcome: string; readonly afterMs: number };

/** One attempt to deliver a webhook. The body and its id are the same in every attempt. */
export async function deliverWebhook(ctx: WorkerContext, taken: TakenDelivery): Promise<void> {
  const { tenantId } = taken;
  const delivery = await open(ctx, taken);
  const definitions = await ctx.definitions.follower.current();
  definitions.requireReadable('tenant', tenantId);
  const tenant = definitions.find('tenant', tenantId, tenantId);
  const verdict = tenant
    ? await attempt(ctx, delivery, tenant)
    : ({ kind: 'failed', outcome: 'the tenant is gone' } as const);
  await recordVerdict(ctx, taken, verdict);
}

/** How many webhooks of a tenant are on their way to one host. */
export const receiverDeliveriesMax = 10;

/**
 * Claims the delivery of the tenant that has been due for longest. Those to receivers that have all
 * they may have are passed over: a receiver that hangs holds up what goes to itself alone.
 */
export async function takeDelivery(
  sql: Sql,
  tenantId: string,
  fullReceivers: readonly string[] = [],
): Promise<TakenDelivery | undefined> {
  // Due again after the attempt's own time-out: should this worker die, another takes over then.
  // It may be taken a little early: the column keeps milliseconds, and rounds up.
  const [row] = await sql.query<TakenDelivery>(
    `UPDATE webhook_deliveries
     SET fence = fence + 1, attempts = attempts + 1,
       next_attempt_at = now() + $2 * interval '1 millisecond'
     WHERE id = (
       SELECT id FROM webhook_deliveries
       WHERE tenant_id = $1 AND status = 'pending'
         AND next_attempt_at <= now() + interval '100 milliseconds'
         AND coalesce(receiver, tenant_id::text) <> ALL ($3)
       ORDER BY next_attempt_at LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING id, tenant_id AS "tenantId", webhook_id AS "webhookId",
       callback_url AS "callbackUrl", coalesce(receiver, tenant_id::text) AS receiver, body,
       attempts, fence`,
    [tenantId, attemptMs * 2, fullReceivers],
  );
  return row;
}

/** The tenants that have a due delivery. One step into the index for each. */
export async function tenantsWithDueDeliveries(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ tenantId: string }>(
    `WITH RECURSIVE first AS (
       (SELECT tenant_id, next_attempt_at FROM webhook_deliveries WHERE status = 'pending'
        ORDER BY tenant_id, next_attempt_at LIMIT 1)
       UNION ALL
       SELECT next.* FROM first, LATERAL (
         SELECT tenant_id, next_attempt_at FROM webhook_deliveries
         WHERE status = 'pending' AND tenant_id > first.tenant_id
         ORDER BY tenant_id, next_attempt_at LIMIT 1) next
     )
     SELECT tenant_id AS "tenantId" FROM first WHERE next_attempt_at <= now()`,
  );
  return rows.map(({ tenantId }) => tenantId);
}

/** How many were deleted of the deliveries that have ended long ago. */
export async function deleteOldDeliveries(
  sql: Sql,
  keptMs: number,
  rowsMax: number,
): Promise<number> {
  const deleted = await sql.query(
    `DELETE FROM webhook_deliveries WHERE id IN (
       SELECT id FROM webhook_deliveries
       WHERE status <> 'pending' AND next_attempt_at < now() - $1 * interval '1 millisecond'
       ORDER BY next_attempt_at LIMIT $2) RETURNING id`,
    [keptMs, rowsMax],
  );
  return deleted.length;
}

async function open(ctx: WorkerContext, taken: TakenDelivery): Promise<OpenedDelivery> {
  const { id, tenantId, webhookId, attempts } = taken;
  const place = (column: string): Place => ({
    table: 'webhook_deliveries',
    column,
    tenantId,
    record: id,
  });
  try {
    const [callbackUrl, body] = await Promise.all([
      ctx.sealer.open(place('callback_url'), taken.callbackUrl),
      ctx.sealer.open(place('body'), taken.body),
    ]);
    return {
      tenantId,
      webhookId,
      attempts,
      callbackUrl: callbackUrl.toString('utf8'),
      body: body.toString('utf8'),
    };
  } catch (error) {
    if (attempts > retriesMax) {
      await recordVerdict(ctx, taken, { kind: 'failed', outcome: 'unreadable' });
    }
    throw error;
  }
}

async function attempt(
  ctx: WorkerContext,
  { tenantId, webhookId, callbackUrl, body, attempts }: OpenedDelivery,
  tenant: TenantDefinition,
): Promise<Verdict> {
  const now = Date.now();
  const secrets = tenant.webhookSecrets
    .filter(({ until }) => until === null || Date.parse(until) > now)
    .map(({ secret }) => secret);
  const timestamp = Math.floor(now / 1_000);
  const retriesLeft = retriesMax - (attempts - 1);
  try {
    const answer = await ctx.egress.post(callbackUrl, {
      owner: tenantId,
      headers: {
        ...webhookHeaders({ id: webhookId, timestamp, body }, secrets),
        [hopHeader]: ctx.hopMarker,
      },
      body,
      timeoutMs: attemptMs,
    });
    const outcome = `status ${answer.status}`;
    if (answer.status >= 200 && answer.status < 300) return { kind: 'delivered', outcome };
    if (answer.status === 410 || retriesLeft <= 0) return { kind: 'failed', outcome };
    const afterMs = Math.max(backOffMs(attempts), retryAfterMs(answer.headers['retry-after'], now));
    return { kind: 'retry', outcome, afterMs };
  } catch {
    const outcome = 'not reached';
    if (retriesLeft <= 0) return { kind: 'failed', outcome };
    return { kind: 'retry', outcome, afterMs: backOffMs(attempts) };
  }
}

/** 9 s, doubled with each failure, 20 % either way so that many do not come back at once. */
function backOffMs(failures: number): number {
  return firstRetryMs * 2 ** (failures - 1) * (0.8 + Math.random() * 0.4);
}

const retryAfterMaxMs = 24 * 60 * 60 * 1_000;

function retryAfterMs(header: string | undefined, now: number): number {
  if (header === undefined) return 0;
  const asked = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now;
  return Number.isFinite(asked) ? Math.min(Math.max(asked, 0), retryAfterMaxMs) : 0;
}

async function recordVerdict(
  ctx: WorkerContext,
  { id, fence }: TakenDelivery,
  verdict: Verdict,
): Promise<void> {
  const status = verdict.kind === 'retry' ? 'pending' : verdict.kind;
  const afterMs = verdict.kind === 'retry' ? verdict.afterMs : 0;
  await ctx.database.query(
    `UPDATE webhook_deliveries
     SET status = $3, last_outcome = $4,
       next_attempt_at = now() + $5::float8 * interval '1 millisecond',
       delivered_at = CASE WHEN $3 = 'delivered' THEN now() END
     WHERE id = $1 AND fence = $2 AND status = 'pending'`,
    [id, fence, status, verdict.outcome, afterMs],
  );
}
