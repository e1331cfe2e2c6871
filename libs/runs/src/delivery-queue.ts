import { createHmac } from 'node:crypto';
import type { PreparedStatement, Sql } from '@glovebox/database';
import type { Place, Sealer } from '@glovebox/seal';
import type { Sight } from '@glovebox/vault';

/** One attempt may take this long. */
export const attemptMs = 15_000;
/** The time after which another worker takes over from one that died. */
export const claimMs = 2 * attemptMs;

/** Both columns may be null. The indexes have the same expressions. */
export const receiverColumn = 'coalesce(receiver, tenant_id::text)';
/** In the order of its bytes. */
export const pathColumn = `(coalesce(path, receiver, tenant_id::text) COLLATE "C")`;

/** A webhook that was not inserted yet. It has the id of its run. */
export interface NewDelivery {
  readonly id: string;
  readonly tenantId: string;
  readonly reactorId: string;
  readonly callbackUrl: Buffer;
  readonly receiver: string;
  readonly path: string;
  readonly body: Buffer;
  /** What the body shows of tokens. */
  readonly sights: readonly Sight[];
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
  /** The webhook has ended before, and is sent again. */
  readonly isReplay: boolean;
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
  /** Where and why there was no answer, in words of ours. Absent where egress refused. */
  readonly cause?: { readonly phase: string; readonly reason: string };
}

/** What becomes of a webhook. A webhook that failed without an attempt says why. */
export type Verdict =
  | { readonly kind: 'delivered'; readonly attempt: Attempt }
  | { readonly kind: 'failed'; readonly attempt: Attempt }
  | { readonly kind: 'retry'; readonly attempt: Attempt; readonly afterMs: number }
  | { readonly kind: 'given_up'; readonly reason: 'tenant_gone' | 'unreadable' };

/** The place that a sealed column of a webhook is bound to, while it waits and in the log. */
export const webhookPlace = (
  tenantId: string,
  record: string,
  column: 'body' | 'callback_url',
): Place => ({ table: 'webhook_deliveries', column, tenantId, record });

/**
 * Tells the receivers of a tenant apart, and tells nothing more: the keyed hash of the host. It is
 * text, so that a search for webhooks to a receiver opens none.
 */
export const receiverOf = (sealer: Sealer, tenantId: string, host: string): Promise<string> =>
  hashOf(sealer, `${tenantId} ${host}`);

/** Tells the paths of receivers apart: the keyed hash of scheme, host, port and path. */
const receiverPathOf = (sealer: Sealer, tenantId: string, url: URL): Promise<string> =>
  hashOf(sealer, `${tenantId} ${url.origin}${url.pathname}`);

async function hashOf(sealer: Sealer, text: string): Promise<string> {
  const key = await sealer.lastingKey('receivers');
  return createHmac('sha256', key).update(text).digest('base64url');
}

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
  sights: readonly Sight[],
): Promise<NewDelivery> {
  const { id, tenantId, reactorId } = run;
  const url = new URL(run.callbackUrl);
  const [receiver, path, body, callbackUrl] = await Promise.all([
    receiverOf(sealer, tenantId, url.hostname),
    receiverPathOf(sealer, tenantId, url),
    sealer.seal(webhookPlace(tenantId, id, 'body'), webhookBody),
    sealer.seal(webhookPlace(tenantId, id, 'callback_url'), run.callbackUrl),
  ]);
  return { id, tenantId, reactorId, callbackUrl, receiver, path, body, sights };
}

const insertStatement: PreparedStatement = {
  name: 'insert-delivery',
  text: `
    INSERT INTO webhook_deliveries
      (id, tenant_id, run_id, reactor_id, webhook_id, callback_url, receiver, path, body, sights,
       status, next_attempt_at, created_at)
    VALUES ($1, $2, $1, $3, $4, $5, $6, $7, $8, $9, 'pending', now(), now())`,
};

/** Inserts a delivery that is due at once. */
export async function insertDelivery(sql: Sql, delivery: NewDelivery): Promise<void> {
  const { id, tenantId, reactorId, callbackUrl, receiver, path, body } = delivery;
  const sights = JSON.stringify(delivery.sights);
  const values = [id, tenantId, reactorId, `msg_${id}`, callbackUrl, receiver, path, body, sights];
  await sql.query(insertStatement, values);
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

const countStatement: PreparedStatement = {
  name: 'count-attempt',
  text: `
    UPDATE webhook_deliveries
    SET attempts = attempts + 1, unsent_tries = 0,
      next_attempt_at = now() + $3 * interval '1 millisecond',
      place_until = now() + $3 * interval '1 millisecond'
    WHERE id = $1 AND fence = $2 AND place IS NOT NULL
    RETURNING attempts`,
};

/**
 * Returns the number of this attempt. Undefined: another worker has claimed the delivery, or the
 * claim is so old that its place is taken back. Nothing may be sent then.
 */
export async function countAttempt(
  sql: Sql,
  { id, fence }: ClaimedDelivery,
): Promise<number | undefined> {
  const [row] = await sql.query<{ attempts: number }>(countStatement, [id, fence, claimMs]);
  return row?.attempts;
}

/** Attempts that a webhook lists. With replays there may be more: the oldest go. */
const attemptsListedMax = 50;
const listed = `CASE WHEN jsonb_array_length(attempt_log) >= ${attemptsListedMax}
  THEN attempt_log - 0 ELSE attempt_log END || $3::jsonb`;

/**
 * Keeps the path of an attempt that failed, until one to it succeeds. It is written again once an
 * hour, so that housekeeping finds those that no attempt goes to any more.
 */
const keepFailingPath = (attempted: string): string => `
  INSERT INTO failing_webhook_paths AS known (tenant_id, path, failed_at)
  SELECT tenant_id, path, now() FROM ${attempted}
  ON CONFLICT (tenant_id, path) DO UPDATE SET failed_at = now()
  WHERE known.failed_at < now() - interval '1 hour'`;

const retryStatement: PreparedStatement = {
  name: 'retry-delivery',
  text: `
    WITH failed AS (
      UPDATE webhook_deliveries
      SET attempt_log = ${listed}, next_attempt_at = now() + $4::float8 * interval '1 millisecond',
        place = NULL, place_until = NULL
      WHERE id = $1 AND fence = $2
      RETURNING id, tenant_id, ${pathColumn} AS path),
    failing AS (${keepFailingPath('failed')})
    SELECT id FROM failed`,
};

/** False: another worker has claimed the delivery meanwhile, and nothing is recorded. */
export async function recordVerdict(
  sql: Sql,
  claimed: ClaimedDelivery,
  verdict: Verdict,
): Promise<boolean> {
  const attempts = verdict.kind === 'given_up' ? [] : [verdict.attempt];
  if (verdict.kind !== 'retry') return endDelivery(sql, claimed, verdict, attempts);
  const values = [claimed.id, claimed.fence, JSON.stringify(attempts), verdict.afterMs];
  const rows = await sql.query(retryStatement, values);
  return rows.length > 0;
}

/**
 * The row moves to the log. Another claim keeps it. A body is not kept where the data of a token in
 * it is gone.
 */
const endStatement: PreparedStatement = {
  name: 'end-delivery',
  text: `
    WITH ended AS (
      DELETE FROM webhook_deliveries WHERE id = $1 AND fence = $2
      RETURNING *),
    logged AS (INSERT INTO ended_deliveries (tenant_id, id, run_id, reactor_id, webhook_id, status,
      callback_url, receiver, path, body, sights, attempt_log, outcome, created_at, ended_at)
    SELECT tenant_id, id, run_id, reactor_id, webhook_id, $4, callback_url, receiver, path,
      CASE WHEN NOT sights_are_gone(tenant_id, sights) THEN body END, sights,
      ${listed}, $5, created_at, now() FROM ended),
    attempted AS (SELECT tenant_id, ${pathColumn} AS path FROM ended
      WHERE jsonb_array_length($3::jsonb) > 0),
    failing AS (${keepFailingPath(`attempted WHERE $4 = 'failed'`)}),
    healthy AS (DELETE FROM failing_webhook_paths known USING attempted
      WHERE $4 = 'delivered' AND (known.tenant_id, known.path) = (attempted.tenant_id, attempted.path))
    SELECT id FROM ended`,
};

async function endDelivery(
  sql: Sql,
  { id, fence }: ClaimedDelivery,
  verdict: Verdict,
  attempts: readonly Attempt[],
): Promise<boolean> {
  const status = verdict.kind === 'delivered' ? 'delivered' : 'failed';
  const outcome = verdict.kind === 'given_up' ? verdict.reason : verdict.attempt.outcome;
  const values = [id, fence, JSON.stringify(attempts), status, outcome];
  const rows = await sql.query(endStatement, values);
  return rows.length > 0;
}

/** Gives back the place of a delivery that this process cannot send. */
export async function givePlaceBack(
  sql: Sql,
  { id, fence }: Pick<ClaimedDelivery, 'id' | 'fence'>,
): Promise<void> {
  await sql.query(
    `UPDATE webhook_deliveries SET place = NULL, place_until = NULL WHERE id = $1 AND fence = $2`,
    [id, fence],
  );
}

/**
 * Takes back the places of workers that died, and returns their number. What those still want to
 * send, they do not send.
 */
export async function takeBackPlaces(sql: Sql): Promise<number> {
  const rows = await sql.query(
    `UPDATE webhook_deliveries SET place = NULL, place_until = NULL
     WHERE id IN (
       SELECT id FROM webhook_deliveries WHERE place IS NOT NULL AND place_until < now()
       FOR UPDATE SKIP LOCKED)
     RETURNING id`,
  );
  return rows.length;
}
