import { randomBytes } from 'node:crypto';
import type { Sql } from '@glovebox/database';
import { receiverOf, webhookPlace } from '@glovebox/reactors';
import type { Sealer } from '@glovebox/seal';

/** One attempt may take this long. */
export const attemptMs = 15_000;
/** The time after which another worker takes over from one that died. */
const claimMs = 2 * attemptMs;
const unsentPauseMaxMs = 10 * 60 * 1_000;

/** A webhook that was not inserted yet. It has the id of its run. */
export interface NewDelivery {
  readonly id: string;
  readonly tenantId: string;
  readonly reactorId: string;
  readonly callbackUrl: Buffer;
  readonly receiver: string;
  readonly body: Buffer;
}

/** A delivery that this process has claimed, still sealed. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly tenantId: string;
  readonly webhookId: string;
  readonly callbackUrl: Buffer;
  readonly receiver: string;
  readonly body: Buffer;
  /** How often it was claimed since something was last sent, this claim included. */
  readonly unsentTries: number;
  readonly fence: string;
}

export interface OpenedDelivery {
  readonly tenantId: string;
  readonly webhookId: string;
  readonly callbackUrl: string;
  readonly body: string;
}

/** One attempt, as it is listed. No status: the receiver was not reached, or did not answer. */
export interface Attempt {
  readonly at: string;
  readonly ms: number;
  readonly status?: number;
  readonly outcome: 'delivered' | 'rejected' | 'timed_out' | 'unreachable';
}

/** What becomes of a webhook. A webhook that failed without an attempt says why. */
export type Verdict =
  | { readonly kind: 'delivered'; readonly attempt: Attempt }
  | { readonly kind: 'failed'; readonly attempt: Attempt }
  | { readonly kind: 'retry'; readonly attempt: Attempt; readonly afterMs: number }
  | { readonly kind: 'given_up'; readonly reason: 'tenant_gone' | 'unreadable' };

/** Seals the webhook of a run for `insertDelivery`. */
export async function sealDelivery(
  sealer: Sealer,
  run: {
    readonly id: string;
    readonly tenantId: string;
    readonly reactorId: string;
    readonly callbackUrl: string;
  },
  webhookBody: string,
): Promise<NewDelivery> {
  const { id, tenantId, reactorId } = run;
  const [receiver, body, callbackUrl] = await Promise.all([
    receiverOf(sealer, tenantId, new URL(run.callbackUrl).hostname),
    sealer.seal(webhookPlace(tenantId, id, 'body'), webhookBody),
    sealer.seal(webhookPlace(tenantId, id, 'callback_url'), run.callbackUrl),
  ]);
  return { id, tenantId, reactorId, callbackUrl, receiver, body };
}

/** Inserts a delivery that is due at once. */
export async function insertDelivery(sql: Sql, delivery: NewDelivery): Promise<void> {
  const { id, tenantId, reactorId, callbackUrl, receiver, body } = delivery;
  await sql.query(
    `INSERT INTO webhook_deliveries
       (id, tenant_id, run_id, reactor_id, webhook_id, callback_url, receiver, body, status,
        next_attempt_at, created_at)
     VALUES ($1, $2, $1, $3, $4, $5, $6, $7, 'pending', now(), now())`,
    [id, tenantId, reactorId, `msg_${id}`, callbackUrl, receiver, body],
  );
}

/**
 * A claim looks at so many rows in the order of their time, and at so many receivers after that.
 */
export const claimStepsMax = 200;

// The claim may be a little early: the column keeps milliseconds, and rounds up.
const isDue = `status = 'pending' AND next_attempt_at <= now() + interval '100 milliseconds'`;
/** Rows of the releases before this column have none. The index has the same expression. */
const receiverColumn = 'coalesce(receiver, tenant_id::text)';

/**
 * Claims the delivery of the tenant that has been due for longest. Deliveries to full receivers are
 * passed over: a receiver that hangs delays only its own webhooks. Where only such deliveries are
 * in front, the claim walks the tenant's other receivers, from a random one on. It finds what is
 * due to one of them without a walk over the rows that wait.
 */
export async function claimDelivery(
  sql: Sql,
  tenantId: string,
  fullReceivers: readonly string[] = [],
): Promise<ClaimedDelivery | undefined> {
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

/** The row is due again after a while, in case this worker dies or cannot send it. */
async function claim(
  sql: Sql,
  tenantId: string,
  which: string,
  receivers: string | readonly string[],
): Promise<ClaimedDelivery | undefined> {
  const [row] = await sql.query<ClaimedDelivery>(
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

export async function openDelivery(
  sealer: Sealer,
  { id, tenantId, webhookId, callbackUrl, body }: ClaimedDelivery,
): Promise<OpenedDelivery> {
  const [openedUrl, openedBody] = await Promise.all([
    sealer.open(webhookPlace(tenantId, id, 'callback_url'), callbackUrl),
    sealer.open(webhookPlace(tenantId, id, 'body'), body),
  ]);
  return {
    tenantId,
    webhookId,
    callbackUrl: openedUrl.toString('utf8'),
    body: openedBody.toString('utf8'),
  };
}

/** Returns the number of this attempt. Undefined: another worker has claimed and sends it. */
export async function countAttempt(
  sql: Sql,
  { id, fence }: ClaimedDelivery,
): Promise<number | undefined> {
  const [row] = await sql.query<{ attempts: number }>(
    `UPDATE webhook_deliveries
     SET attempts = attempts + 1, unsent_tries = 0,
       next_attempt_at = now() + $3 * interval '1 millisecond'
     WHERE id = $1 AND fence = $2 AND status = 'pending' RETURNING attempts`,
    [id, fence, claimMs],
  );
  return row?.attempts;
}

/** Attempts that a webhook lists. With replays there may be more: the oldest go. */
const attemptsListedMax = 50;
const listed = `CASE WHEN jsonb_array_length(attempt_log) >= ${attemptsListedMax}
  THEN attempt_log - 0 ELSE attempt_log END || $3::jsonb`;

export async function recordVerdict(
  sql: Sql,
  claimed: ClaimedDelivery,
  verdict: Verdict,
): Promise<void> {
  const attempts = verdict.kind === 'given_up' ? [] : [verdict.attempt];
  if (verdict.kind !== 'retry') return endDelivery(sql, claimed, verdict, attempts);
  await sql.query(
    `UPDATE webhook_deliveries
     SET attempt_log = ${listed}, next_attempt_at = now() + $4::float8 * interval '1 millisecond'
     WHERE id = $1 AND fence = $2 AND status = 'pending'`,
    [claimed.id, claimed.fence, JSON.stringify(attempts), verdict.afterMs],
  );
}

/** The row moves to the log. Another claim keeps it. */
async function endDelivery(
  sql: Sql,
  { id, fence }: ClaimedDelivery,
  verdict: Verdict,
  attempts: readonly Attempt[],
): Promise<void> {
  const status = verdict.kind === 'delivered' ? 'delivered' : 'failed';
  const outcome = verdict.kind === 'given_up' ? verdict.reason : verdict.attempt.outcome;
  await sql.query(
    `WITH ended AS (
       DELETE FROM webhook_deliveries WHERE id = $1 AND fence = $2 AND status = 'pending'
       RETURNING *)
     INSERT INTO ended_deliveries (tenant_id, id, run_id, reactor_id, webhook_id, status,
       callback_url, receiver, body, attempt_log, outcome, created_at, ended_at)
     SELECT tenant_id, id, run_id, reactor_id, webhook_id, $4, callback_url, receiver, body,
       ${listed}, $5, created_at, now() FROM ended`,
    [id, fence, JSON.stringify(attempts), status, outcome],
  );
}
