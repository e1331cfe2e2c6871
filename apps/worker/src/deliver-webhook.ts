import { randomBytes } from 'node:crypto';
import type { Sql } from '@glovebox/database';
import type { TenantDefinition } from '@glovebox/definitions';
import { hopHeader } from '@glovebox/egress';
import type { Place } from '@glovebox/seal';
import type { WorkerContext } from './context';
import { webhookHeaders } from './sign-webhook';

const attemptMs = 15_000;
/** Should a worker die, another one takes over then. */
const claimMs = 2 * attemptMs;
const retriesMax = 10;
const firstRetryMs = 9_000;
/** With so many in a row, which pause for 30 s at first and 10 min in the end, a day has passed. */
export const unsentTriesMax = 150;
const unsentPauseMaxMs = 10 * 60 * 1_000;

/** A delivery that this process has claimed, still sealed. */
export interface TakenDelivery {
  readonly id: string;
  readonly tenantId: string;
  readonly webhookId: string;
  readonly callbackUrl: Buffer;
  readonly receiver: string;
  readonly body: Buffer;
  /** How often it was claimed, this time included, since something was last sent. */
  readonly unsentTries: number;
  readonly fence: string;
}

interface OpenedDelivery {
  readonly tenantId: string;
  readonly webhookId: string;
  readonly callbackUrl: string;
  readonly body: string;
}

/** What one attempt came to. */
type Verdict =
  | { readonly kind: 'delivered'; readonly outcome: string }
  | { readonly kind: 'failed'; readonly outcome: string }
  | { readonly kind: 'retry'; readonly outcome: string; readonly afterMs: number };

/**
 * One attempt to deliver a webhook. The body and its id are the same in every attempt. It counts from
 * where something is sent: a worker that lacks a key or a store, or dies before, uses up none.
 */
export async function deliverWebhook(ctx: WorkerContext, taken: TakenDelivery): Promise<void> {
  const { delivery, tenant } = await ready(ctx, taken);
  if (!tenant) {
    await recordVerdict(ctx, taken, { kind: 'failed', outcome: 'the tenant is gone' });
    return;
  }
  const attempts = await countAttempt(ctx, taken);
  if (attempts === undefined) return;
  await recordVerdict(ctx, taken, await attempt(ctx, delivery, tenant, attempts));
}

/** What an attempt takes. What cannot be had for a day is given up. */
async function ready(
  ctx: WorkerContext,
  taken: TakenDelivery,
): Promise<{ delivery: OpenedDelivery; tenant: TenantDefinition | undefined }> {
  const { tenantId } = taken;
  try {
    const delivery = await open(ctx, taken);
    const definitions = await ctx.definitions.follower.current();
    definitions.requireReadable('tenant', tenantId);
    return { delivery, tenant: definitions.find('tenant', tenantId, tenantId) };
  } catch (error) {
    if (taken.unsentTries > unsentTriesMax) {
      await recordVerdict(ctx, taken, { kind: 'failed', outcome: 'unreadable' });
    }
    throw error;
  }
}

/** Which attempt it is; undefined: another worker has the delivery by now, and sends it. */
async function countAttempt(
  ctx: WorkerContext,
  { id, fence }: TakenDelivery,
): Promise<number | undefined> {
  const [row] = await ctx.database.query<{ attempts: number }>(
    `UPDATE webhook_deliveries
     SET attempts = attempts + 1, unsent_tries = 0,
       next_attempt_at = now() + $3 * interval '1 millisecond'
     WHERE id = $1 AND fence = $2 AND status = 'pending' RETURNING attempts`,
    [id, fence, claimMs],
  );
  return row?.attempts;
}

/** How many webhooks of a tenant are on their way to one host. */
export const receiverDeliveriesMax = 10;
/** A claim looks at so many rows in the order of their time, and at so many receivers after that. */
export const claimStepsMax = 200;

// It may be taken a little early: the column keeps milliseconds, and rounds up.
const isDue = `status = 'pending' AND next_attempt_at <= now() + interval '100 milliseconds'`;
/** Rows of the releases before this column have none. As in the index. */
const receiverColumn = 'coalesce(receiver, tenant_id::text)';

/**
 * Claims the delivery of the tenant that has been due for longest. Those to receivers that have all
 * they may have are passed over: a receiver that hangs holds up what goes to itself alone. Where they
 * are all that is in front, the tenant's other receivers are gone through, from any of them on: what
 * is due to one of them is found without a walk over what waits.
 */
export async function takeDelivery(
  sql: Sql,
  tenantId: string,
  fullReceivers: readonly string[] = [],
): Promise<TakenDelivery | undefined> {
  const first = await claim(
    sql,
    tenantId,
    `SELECT d.id FROM (
       SELECT id, next_attempt_at, ${receiverColumn} AS receiver FROM webhook_deliveries
       WHERE tenant_id = $1 AND ${isDue} ORDER BY next_attempt_at LIMIT ${claimStepsMax}) first
     JOIN webhook_deliveries d ON d.id = first.id
     WHERE first.receiver <> ALL ($4) AND d.status = 'pending'
       AND d.next_attempt_at = first.next_attempt_at
     ORDER BY first.next_attempt_at LIMIT 1 FOR UPDATE OF d SKIP LOCKED`,
    fullReceivers,
  );
  if (first || fullReceivers.length === 0) return first;
  for (const from of [randomBytes(16).toString('base64url'), '']) {
    const receiver = await dueReceiver(sql, tenantId, fullReceivers, from);
    if (receiver === undefined) continue;
    // In the order of the index of receivers: by that of times Postgres would walk what waits.
    return claim(
      sql,
      tenantId,
      `SELECT id FROM webhook_deliveries
       WHERE tenant_id = $1 AND ${receiverColumn} BETWEEN $4 AND $4 AND ${isDue}
       ORDER BY ${receiverColumn}, next_attempt_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
      receiver,
    );
  }
  return undefined;
}

/** Due again after a while: should this worker die or be unable to send it, it is tried again then. */
async function claim(
  sql: Sql,
  tenantId: string,
  which: string,
  receivers: string | readonly string[],
): Promise<TakenDelivery | undefined> {
  const [row] = await sql.query<TakenDelivery>(
    `UPDATE webhook_deliveries
     SET fence = fence + 1, unsent_tries = unsent_tries + 1,
       next_attempt_at = now() + interval '1 millisecond'
         * least($2::float8 * 2 ^ least(unsent_tries, 20), $3)
     WHERE id = (${which})
     RETURNING id, tenant_id AS "tenantId", webhook_id AS "webhookId",
       callback_url AS "callbackUrl", ${receiverColumn} AS receiver, body,
       unsent_tries AS "unsentTries", fence`,
    [tenantId, claimMs, unsentPauseMaxMs, receivers],
  );
  return row;
}

/** A receiver behind `from` that a delivery is due to. One step into the index for each. */
async function dueReceiver(
  sql: Sql,
  tenantId: string,
  fullReceivers: readonly string[],
  from: string,
): Promise<string | undefined> {
  const next = (after: string): string =>
    `SELECT ${receiverColumn} AS receiver, next_attempt_at FROM webhook_deliveries
     WHERE tenant_id = $1 AND status = 'pending' AND ${receiverColumn} > ${after}
     ORDER BY ${receiverColumn}, next_attempt_at LIMIT 1`;
  const [row] = await sql.query<{ receiver: string }>(
    `WITH RECURSIVE receivers AS (
       (${next('$3')})
       UNION ALL
       SELECT next.* FROM receivers, LATERAL (${next('receivers.receiver')}) next
     )
     SELECT receiver FROM (SELECT * FROM receivers LIMIT ${claimStepsMax}) passed
     WHERE next_attempt_at <= now() AND receiver <> ALL ($2) LIMIT 1`,
    [tenantId, fullReceivers, from],
  );
  return row?.receiver;
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
  const { id, tenantId, webhookId } = taken;
  const place = (column: string): Place => ({
    table: 'webhook_deliveries',
    column,
    tenantId,
    record: id,
  });
  const [callbackUrl, body] = await Promise.all([
    ctx.sealer.open(place('callback_url'), taken.callbackUrl),
    ctx.sealer.open(place('body'), taken.body),
  ]);
  return {
    tenantId,
    webhookId,
    callbackUrl: callbackUrl.toString('utf8'),
    body: body.toString('utf8'),
  };
}

async function attempt(
  ctx: WorkerContext,
  { tenantId, webhookId, callbackUrl, body }: OpenedDelivery,
  tenant: TenantDefinition,
  attempts: number,
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
