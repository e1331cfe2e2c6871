import type { TenantDefinition } from '@glovebox/definitions';
import { hopHeader } from '@glovebox/egress';
import { describeError } from '@glovebox/service-host';
import type { Place } from '@glovebox/seal';
import type { WorkerContext } from './context';
import { webhookHeaders } from './sign-webhook';

/** The queue that reminds workers of deliveries. The row owns when the next attempt is due. */
export const deliveryQueue = {
  name: 'deliveries',
  prefix: '{glovebox}',
  options: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
} as const;

const attemptMs = 15_000;
const retriesMax = 10;
const firstRetryMs = 9_000;

interface ClaimedDelivery {
  readonly id: string;
  readonly tenantId: string;
  readonly webhookId: string;
  readonly callbackUrl: string;
  readonly body: string;
  readonly attempts: number;
  readonly fence: number;
}

/** What one attempt came to. */
type Verdict =
  | { readonly kind: 'delivered'; readonly outcome: string }
  | { readonly kind: 'failed'; readonly outcome: string }
  | { readonly kind: 'retry'; readonly outcome: string; readonly afterMs: number };

/** One attempt to deliver a webhook. The body and its id are the same in every attempt. */
export async function deliverWebhook(ctx: WorkerContext, deliveryId: string): Promise<void> {
  const delivery = await claimDelivery(ctx, deliveryId);
  if (!delivery) return;
  const { tenantId } = delivery;
  const definitions = await ctx.definitions.follower.current();
  definitions.requireReadable('tenant', tenantId);
  const tenant = definitions.find('tenant', tenantId, tenantId);
  const verdict = tenant
    ? await attempt(ctx, delivery, tenant)
    : ({ kind: 'failed', outcome: 'the tenant is gone' } as const);
  await recordVerdict(ctx, delivery, verdict);
}

interface Due {
  readonly id: string;
  readonly attempts: number;
}

/** A lost reminder is found by the sweeper, a doubled one finds nothing to claim. */
export function remindOfDelivery(ctx: WorkerContext, { id, attempts }: Due, delayMs = 0): void {
  const options = { jobId: `${id}-${attempts}`, delay: delayMs };
  ctx.deliveries.add('deliver', { deliveryId: id }, options).catch((error: unknown) => {
    ctx.logger.warn({ error: describeError(error), deliveryId: id }, 'a delivery has no job');
  });
}

/** Due or forgotten deliveries, which no job speaks for. */
export function forgottenDeliveries(ctx: WorkerContext, limit: number): Promise<Due[]> {
  return ctx.database.query<Due>(
    `SELECT id, attempts FROM webhook_deliveries
     WHERE status = 'pending' AND next_attempt_at < now() - interval '2 seconds'
     ORDER BY next_attempt_at LIMIT $1`,
    [limit],
  );
}

async function claimDelivery(ctx: WorkerContext, id: string): Promise<ClaimedDelivery | undefined> {
  // Due again after the attempt's own time-out: should this worker die, another takes over then.
  // A reminder may come a little early: the column keeps milliseconds, and rounds up.
  const [row] = await ctx.database.query<{
    tenantId: string;
    webhookId: string;
    callbackUrl: Buffer;
    body: Buffer;
    attempts: number;
    fence: string;
  }>(
    `UPDATE webhook_deliveries
     SET fence = fence + 1, attempts = attempts + 1,
       next_attempt_at = now() + $2 * interval '1 millisecond'
     WHERE id = $1 AND status = 'pending' AND next_attempt_at <= now() + interval '100 milliseconds'
     RETURNING tenant_id AS "tenantId", webhook_id AS "webhookId", callback_url AS "callbackUrl",
       body, attempts, fence`,
    [id, attemptMs * 2],
  );
  if (!row) return undefined;
  const place = (column: string): Place => ({
    table: 'webhook_deliveries',
    column,
    tenantId: row.tenantId,
    record: id,
  });
  const fence = Number(row.fence);
  try {
    const [callbackUrl, body] = await Promise.all([
      ctx.sealer.open(place('callback_url'), row.callbackUrl),
      ctx.sealer.open(place('body'), row.body),
    ]);
    return {
      ...row,
      id,
      fence,
      callbackUrl: callbackUrl.toString('utf8'),
      body: body.toString('utf8'),
    };
  } catch (error) {
    if (row.attempts > retriesMax) {
      const { attempts } = row;
      await recordVerdict(ctx, { id, fence, attempts }, { kind: 'failed', outcome: 'unreadable' });
    }
    throw error;
  }
}

async function attempt(
  ctx: WorkerContext,
  { tenantId, webhookId, callbackUrl, body, attempts }: ClaimedDelivery,
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
  { id, fence, attempts }: Pick<ClaimedDelivery, 'id' | 'fence' | 'attempts'>,
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
  if (verdict.kind === 'retry') remindOfDelivery(ctx, { id, attempts }, afterMs);
}
