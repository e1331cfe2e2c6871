import { createHmac } from 'node:crypto';
import { SharedStatement, type PreparedStatement, type Sql } from '@glovebox/database';
import type { Place, Sealer } from '@glovebox/seal';
import type { Sight } from '@glovebox/vault';
import {
  answersOf,
  claimBytes,
  claimsHeld,
  claimsOf,
  lockable,
  type Numbered,
  type OwnedClaim,
} from './shared-claims';

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

/** Seals the webhook of a run. */
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

/**
 * Inserts deliveries that are due at once. The parameters are those of `deliveryValues`. `nth` is the
 * number of a delivery, from 1.
 */
export const insertionOfDeliveries = (
  rows: string,
  callbackUrls: string,
  bodies: string,
  where: string,
): string => `
  INSERT INTO webhook_deliveries
    (id, tenant_id, run_id, reactor_id, webhook_id, callback_url, receiver, path, body, sights,
     status, next_attempt_at, created_at)
  SELECT id, tenant_id, id, reactor_id, 'msg_' || id, callback_url, receiver, path, body, sights,
    'pending', now(), now()
  FROM ROWS FROM (
    json_to_recordset(${rows}::json) AS (id uuid, tenant_id uuid, reactor_id uuid, receiver text,
      path text, sights jsonb),
    unnest(${callbackUrls}::bytea[]),
    unnest(${bodies}::bytea[])
  ) WITH ORDINALITY AS delivery (id, tenant_id, reactor_id, receiver, path, sights, callback_url,
    body, nth)
  ${where} AND id IS NOT NULL`;

/** A run without a webhook has an empty row. */
export const deliveryValues = (
  deliveries: readonly (NewDelivery | undefined)[],
): readonly unknown[] => [
  JSON.stringify(
    deliveries.map((delivery) => ({
      id: delivery?.id,
      tenant_id: delivery?.tenantId,
      reactor_id: delivery?.reactorId,
      receiver: delivery?.receiver,
      path: delivery?.path,
      sights: delivery?.sights,
    })),
  ),
  deliveries.map((delivery) => delivery?.callbackUrl ?? null),
  deliveries.map((delivery) => delivery?.body ?? null),
];

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

const deliveriesHeld = claimsHeld('webhook_deliveries');
const claimsWithPlace = claimsHeld('webhook_deliveries', 'place IS NOT NULL');

const countStatement = lockable(
  'count-attempts',
  (locking) => `
  WITH ${claimsWithPlace(locking)}
  UPDATE webhook_deliveries
  SET attempts = attempts + 1, unsent_tries = 0,
    next_attempt_at = now() + $3 * interval '1 millisecond',
    place_until = now() + $3 * interval '1 millisecond'
  FROM mine WHERE webhook_deliveries.id = mine.id
  RETURNING mine.nth::int, attempts`,
);

const counts = new SharedStatement<OwnedClaim, number>({
  bytesOf: () => claimBytes,
  write: async (sql, claims, locking) => {
    const values = [...claimsOf(claims), claimMs];
    const rows = await sql.query<Numbered & { attempts: number }>(countStatement[locking], values);
    return answersOf(claims, rows, ({ attempts }) => attempts);
  },
});

/**
 * Returns the number of this attempt. Undefined: another worker has claimed the delivery, or the
 * claim is so old that its place is taken back. Nothing may be sent then.
 */
export const countAttempt = (sql: Sql, claimed: OwnedClaim): Promise<number | undefined> =>
  counts.ask(sql, claimed);

/** Attempts that a webhook lists. With replays there may be more: the oldest go. */
export const attemptsListedMax = 50;
const listedWith = (attempts: string): string => `
  CASE WHEN jsonb_array_length(attempt_log) >= ${attemptsListedMax}
    THEN attempt_log - 0 ELSE attempt_log END || ${attempts}`;

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
      SET attempt_log = ${listedWith('$3::jsonb')}, next_attempt_at = now() + $4::float8 * interval '1 millisecond',
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
  const { id, tenantId, fence } = claimed;
  const attempts = JSON.stringify(verdict.kind === 'given_up' ? [] : [verdict.attempt]);
  switch (verdict.kind) {
    case 'delivered':
      return (await deliveredOnes.ask(sql, { id, tenantId, fence, attempts })) ?? false;
    case 'retry': {
      const values = [id, fence, attempts, verdict.afterMs];
      return (await sql.query(retryStatement, values)).length > 0;
    }
    default: {
      const outcome = verdict.kind === 'given_up' ? verdict.reason : verdict.attempt.outcome;
      return (await sql.query(failStatement, [id, fence, attempts, outcome])).length > 0;
    }
  }
}

/**
 * The row moves to the log. Another claim keeps it. A body is not kept where the data of a token in
 * it is gone.
 */
const logEnded = (status: string, attempts: string, outcome: string): string => `
  INSERT INTO ended_deliveries (tenant_id, id, run_id, reactor_id, webhook_id, status,
    callback_url, receiver, path, body, sights, reader_version, attempt_log, outcome, created_at,
    ended_at)
  SELECT tenant_id, id, run_id, reactor_id, webhook_id, '${status}', callback_url, receiver, path,
    CASE WHEN NOT sights_are_gone(tenant_id, sights) THEN body END, sights, reader_version,
    ${listedWith(attempts)}, ${outcome}, created_at, now() FROM ended`;

/** Waits for the row of its path, and so goes alone. */
const failStatement: PreparedStatement = {
  name: 'fail-delivery',
  text: `
    WITH ended AS (
      DELETE FROM webhook_deliveries WHERE id = $1 AND fence = $2
      RETURNING *),
    logged AS (${logEnded('failed', '$3::jsonb', '$4')}),
    attempted AS (SELECT tenant_id, ${pathColumn} AS path FROM ended
      WHERE jsonb_array_length($3::jsonb) > 0),
    failing AS (${keepFailingPath('attempted')})
    SELECT id FROM ended`,
};

interface DeliveredClaim extends OwnedClaim {
  readonly attempts: string;
}

/** A path whose row is locked is failing or is mended at this moment: it stays what that makes it. */
const deliveredStatement = lockable(
  'end-delivered',
  (locking) => `
  WITH ${deliveriesHeld(locking)},
  ended AS (
    DELETE FROM webhook_deliveries USING mine WHERE webhook_deliveries.id = mine.id
    RETURNING webhook_deliveries.*, ($3::jsonb[])[mine.nth] AS attempted, mine.nth),
  logged AS (${logEnded('delivered', 'attempted', `'delivered'`)}),
  mended AS MATERIALIZED (
    SELECT known.tenant_id, known.path
    FROM (SELECT DISTINCT tenant_id, ${pathColumn} AS path FROM ended) ended
    JOIN failing_webhook_paths known USING (tenant_id, path)
    FOR UPDATE OF known SKIP LOCKED),
  healthy AS (DELETE FROM failing_webhook_paths known USING mended
    WHERE (known.tenant_id, known.path) = (mended.tenant_id, mended.path))
  SELECT nth::int FROM ended`,
);

const deliveredOnes = new SharedStatement<DeliveredClaim, true>({
  bytesOf: () => claimBytes,
  write: async (sql, claims, locking) => {
    const values = [...claimsOf(claims), claims.map(({ attempts }) => attempts)];
    const rows = await sql.query<Numbered>(deliveredStatement[locking], values);
    return answersOf(claims, rows, () => true);
  },
});

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
