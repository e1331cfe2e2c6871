import { randomBytes } from 'node:crypto';
import type { PreparedStatement, Sql } from '@glovebox/database';
import { claimMs, pathColumn, receiverColumn, type ClaimedDelivery } from './delivery-queue';
import { isOpen } from './held-rows';
import { isUnderstood } from './waiting-rows';

/** How many webhooks of a tenant one host may get at the same time, from all workers together. */
export const receiverDeliveriesMax = 10;
/**
 * So many of them, with the lowest numbers, are for retries and for paths whose last attempt failed.
 * First attempts to other paths take the other ones first.
 */
export const retryPlacesMax = 5;
/**
 * A claim looks at so many rows in the order of their time, and at so many receivers after that.
 */
export const claimStepsMax = 200;
const unsentPauseMaxMs = 10 * 60 * 1_000;

// The claim may be a little early: the column keeps milliseconds, and rounds up.
const isDue = `status = 'pending' AND next_attempt_at <= now() + interval '100 milliseconds'
  AND ${isUnderstood} AND ${isOpen}`;
/** Behind every path of a receiver: neither a hash nor an id has this character. */
const behindAllPaths = '~';

/** Twenty workers have as many under way for a tenant that shares them with another one. */
const placesLookedAt = 500;

/**
 * The receivers of the tenant ($1) that have none of the places up to this one left. Reads only what
 * is under way: the order and the limit keep Postgres to the index of places, also when its
 * statistics are old.
 */
const receiversWithout = (places: number): string => `ARRAY(
  SELECT receiver FROM (
    SELECT ${receiverColumn} AS receiver FROM webhook_deliveries
    WHERE tenant_id = $1 AND place IS NOT NULL AND place <= ${places}
    ORDER BY tenant_id, ${receiverColumn}, place LIMIT ${placesLookedAt}) held
  GROUP BY receiver HAVING count(*) >= ${places})`;
const fullReceivers = receiversWithout(receiverDeliveriesMax);
const withoutRetryPlaces = receiversWithout(retryPlacesMax);

/** `OFFSET 0` keeps Postgres from reading all such paths of the tenant into a hash table. */
const isFailing = (path: string): string => `EXISTS (
  SELECT FROM failing_webhook_paths
  WHERE tenant_id = $1 AND failing_webhook_paths.path = ${path} OFFSET 0)`;

/**
 * Claims the delivery of the tenant that has been due for longest, with a place of its receiver:
 * first attempts before retries. `full`: something is due, and its receivers had no place. One at a
 * time: two claims of several places would wait for each other where each has one that both want.
 *
 * The unique index of places is what keeps workers from taking the same one. It refuses the second
 * of two claims of one moment, which then looks again.
 */
export async function claimDelivery(
  sql: Sql,
  tenantId: string,
): Promise<ClaimedDelivery | 'full' | undefined> {
  for (;;) {
    try {
      return await claimWithPlace(sql, tenantId);
    } catch (error) {
      if (!isPlaceTaken(error)) throw error;
    }
  }
}

/** Several at once cost one commit. */
interface ClaimedTogether extends ClaimedDelivery {
  readonly isAlone: boolean;
  readonly isNoneDue: boolean;
}

/**
 * Claims at most so many deliveries that are among the first due ones, by the rules of
 * `claimDelivery`, or else one by a walk. Only one claim of a tenant takes several at a moment.
 */
export async function claimDeliveries(
  sql: Sql,
  tenantId: string,
  atMost: number,
): Promise<readonly ClaimedDelivery[] | 'full'> {
  const several = await claimSeveral(sql, tenantId, atMost);
  if (several) return several;
  const one = await claimDelivery(sql, tenantId);
  if (one === 'full') return one;
  return one ? [one] : [];
}

/** Undefined: none could be claimed this way. */
async function claimSeveral(
  sql: Sql,
  tenantId: string,
  atMost: number,
): Promise<readonly ClaimedDelivery[] | undefined> {
  const values = [tenantId, claimMs, unsentPauseMaxMs, atMost];
  try {
    const rows = await sql.query<ClaimedTogether>(claimOfSeveral, values);
    const claimed = rows.filter(({ id }) => id !== null);
    const isNoneDue = rows[0]?.isAlone === true && rows[0].isNoneDue;
    return claimed.length > 0 || isNoneDue ? claimed : undefined;
  } catch (error) {
    // Another worker took one of the places.
    if (isPlaceTaken(error)) return undefined;
    throw error;
  }
}

const isPlaceTaken = (error: unknown): boolean =>
  error instanceof Error &&
  'constraint' in error &&
  error.constraint === 'webhook_deliveries_places';

/**
 * Deliveries that have no place are passed over: a receiver that hangs delays only its own webhooks,
 * and a path that fails takes half of its places. Where more is due than a claim looks at, the claim
 * walks the paths of the tenant's other receivers for a first attempt, and then the receivers for a
 * retry. It finds what is due to one of them without a walk over the rows that wait.
 */
async function claimWithPlace(
  sql: Sql,
  tenantId: string,
): Promise<ClaimedDelivery | 'full' | undefined> {
  const oldest = await claim(sql, claimOfOldest, tenantId, false);
  if (oldest) return oldest;
  const { full, isDeep, isDue } = await lookAtQueue(sql, tenantId);
  // What is due had no place a moment ago, whatever has been given back since.
  if (!isDeep) return isDue ? 'full' : undefined;
  for (const from of [
    [randomHash(), randomHash()],
    ['', ''],
  ] as const) {
    const path = await pathOfFirstAttempt(sql, tenantId, from);
    if (path) return (await claim(sql, claimOfPath, tenantId, ...path)) ?? 'full';
  }
  const retry = await claim(sql, claimOfOldest, tenantId, true);
  if (retry) return retry;
  for (const from of [randomHash(), '']) {
    const receiver = await dueReceiver(sql, tenantId, full, from);
    if (receiver) return (await claim(sql, claimOfReceiver, tenantId, receiver)) ?? 'full';
  }
  return 'full';
}

/** A place among receivers or paths. */
const randomHash = (): string => randomBytes(16).toString('base64url');

const lookStatement: PreparedStatement = {
  name: 'look-at-deliveries',
  text: `
    SELECT ${withoutRetryPlaces} AS full, due = ${claimStepsMax} AS "isDeep", due > 0 AS "isDue"
    FROM (SELECT count(*) AS due FROM (
      SELECT FROM webhook_deliveries WHERE tenant_id = $1 AND ${isDue}
      ORDER BY next_attempt_at LIMIT ${claimStepsMax}) oldest) counted`,
};

interface QueueSeen {
  /** Receivers without a place for retries. */
  readonly full: readonly string[];
  /** More is due than a claim looks at. */
  readonly isDeep: boolean;
  readonly isDue: boolean;
}

async function lookAtQueue(sql: Sql, tenantId: string): Promise<QueueSeen> {
  const [row] = await sql.query<QueueSeen>(lookStatement, [tenantId]);
  return row ?? { full: [], isDeep: false, isDue: false };
}

async function claim(
  sql: Sql,
  statement: PreparedStatement,
  tenantId: string,
  ...values: readonly unknown[]
): Promise<ClaimedDelivery | undefined> {
  const all = [tenantId, claimMs, unsentPauseMaxMs, ...values];
  return (await sql.query<ClaimedDelivery>(statement, all))[0];
}

/** The row is due again after a while, in case this worker dies or cannot send it. */
const updateOfGiven = `
  UPDATE webhook_deliveries
  SET fence = fence + 1, unsent_tries = unsent_tries + 1,
    next_attempt_at = now() + interval '1 millisecond'
      * least($2::float8 * 2 ^ least(unsent_tries, 20), $3),
    place = given.place, place_until = now() + $2 * interval '1 millisecond'
  FROM given WHERE webhook_deliveries.id = given.id
  RETURNING webhook_deliveries.id, tenant_id AS "tenantId", webhook_id AS "webhookId",
    callback_url AS "callbackUrl", ${receiverColumn} AS receiver, body,
    unsent_tries AS "unsentTries", jsonb_array_length(attempt_log) > attempts AS "isReplay", fence`;

const claimOf = (due: string): string => `
  WITH due AS MATERIALIZED (${due}),
  given AS MATERIALIZED (
    SELECT due.id, free.place FROM due CROSS JOIN LATERAL (
      SELECT nth AS place FROM generate_series(1, ${receiverDeliveriesMax}) nth
      WHERE (nth <= ${retryPlacesMax} OR NOT (due.is_retry OR ${isFailing('due.path')}))
        AND NOT EXISTS (
          SELECT FROM webhook_deliveries held WHERE held.tenant_id = $1
            AND coalesce(held.receiver, held.tenant_id::text) = due.receiver
            AND held.place = nth)
      ORDER BY nth <= ${retryPlacesMax}, random() LIMIT 1) free)
  ${updateOfGiven}`;

const claimedColumns = `${receiverColumn} AS receiver, ${pathColumn} AS path,
  attempts > 0 AS is_retry`;

/** Takes a retry only where no first attempt can be behind the rows that it looks at, or $4. */
const claimOfOldest: PreparedStatement = {
  name: 'claim-oldest-delivery',
  text: claimOf(`
    SELECT d.id, oldest.receiver, oldest.path, oldest.is_retry FROM (
      SELECT *, count(*) OVER () AS seen FROM (
        SELECT id, next_attempt_at, ${claimedColumns} FROM webhook_deliveries
        WHERE tenant_id = $1 AND ${isDue} ORDER BY next_attempt_at LIMIT ${claimStepsMax}) due
      ORDER BY is_retry, next_attempt_at) oldest
    JOIN webhook_deliveries d ON d.id = oldest.id
    WHERE (NOT oldest.is_retry OR oldest.seen < ${claimStepsMax} OR $4)
      AND oldest.receiver <> ALL (${fullReceivers})
      AND (oldest.receiver <> ALL (${withoutRetryPlaces})
        OR NOT (oldest.is_retry OR ${isFailing('oldest.path')}))
      AND d.next_attempt_at = oldest.next_attempt_at
    ORDER BY oldest.is_retry, oldest.next_attempt_at LIMIT 1 FOR UPDATE OF d SKIP LOCKED`),
};

/** Rows that a claim of several gives places to. It compares each with the places of all. */
const candidatesMax = 50;

/**
 * Two claims of several places would wait for each other where each has one that both want. So only
 * one that has the tenant's lock takes any. A claim of one holds no place while it waits for another.
 *
 * First attempts to paths that work take high places first. Those for which none is left, and the
 * others, take low ones in their order.
 */
const claimOfSeveral: PreparedStatement = {
  name: 'claim-deliveries',
  text: `
  WITH alone AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock(hashtextextended($1::uuid::text, 47)) AS is_alone),
  oldest AS MATERIALIZED (
    SELECT *, count(*) OVER () AS seen, is_retry OR ${isFailing('due.path')} AS is_low FROM (
      SELECT id, next_attempt_at, ${claimedColumns} FROM webhook_deliveries
      WHERE tenant_id = $1 AND ${isDue} ORDER BY next_attempt_at LIMIT ${claimStepsMax}) due),
  candidates AS MATERIALIZED (
    SELECT * FROM oldest
    WHERE (NOT is_retry OR seen < ${claimStepsMax}) AND receiver <> ALL (${fullReceivers})
      AND (NOT is_low OR receiver <> ALL (${withoutRetryPlaces}))
    ORDER BY is_retry, next_attempt_at, id LIMIT ${candidatesMax}),
  free AS MATERIALIZED (
    SELECT receiver, nth AS place, nth <= ${retryPlacesMax} AS is_low,
      row_number() OVER (PARTITION BY receiver, nth <= ${retryPlacesMax} ORDER BY random()) AS rank
    FROM (SELECT DISTINCT receiver FROM candidates) receivers
    CROSS JOIN generate_series(1, ${receiverDeliveriesMax}) nth
    WHERE NOT EXISTS (
      SELECT FROM webhook_deliveries held WHERE held.tenant_id = $1
        AND coalesce(held.receiver, held.tenant_id::text) = receivers.receiver
        AND held.place = nth)),
  high AS MATERIALIZED (
    SELECT ranked.*, free.place FROM (
      SELECT *, row_number() OVER (
        PARTITION BY receiver, is_low ORDER BY is_retry, next_attempt_at, id) AS rank
      FROM candidates) ranked
    LEFT JOIN free ON NOT ranked.is_low AND NOT free.is_low AND free.receiver = ranked.receiver
      AND free.rank = ranked.rank),
  placed AS MATERIALIZED (
    SELECT id, next_attempt_at, is_retry, place FROM high WHERE place IS NOT NULL
    UNION ALL
    SELECT id, next_attempt_at, is_retry, free.place FROM (
      SELECT id, next_attempt_at, is_retry, receiver,
        row_number() OVER (PARTITION BY receiver ORDER BY is_retry, next_attempt_at, id) AS rank
      FROM high WHERE place IS NULL) low
    JOIN free ON free.is_low AND free.receiver = low.receiver AND free.rank = low.rank),
  chosen AS MATERIALIZED (
    SELECT * FROM placed ORDER BY is_retry, next_attempt_at, id
    LIMIT (SELECT CASE WHEN is_alone THEN $4::int ELSE 0 END FROM alone)),
  given AS MATERIALIZED (
    SELECT taken.id, chosen.place FROM chosen CROSS JOIN LATERAL (
      SELECT id FROM webhook_deliveries
      WHERE id = chosen.id AND next_attempt_at = chosen.next_attempt_at
      FOR UPDATE SKIP LOCKED) taken),
  claimed AS (${updateOfGiven})
  SELECT is_alone AS "isAlone", NOT EXISTS (SELECT FROM oldest) AS "isNoneDue", claimed.*
  FROM alone LEFT JOIN claimed ON true`,
};

/** In the order of the index of paths: by that of times Postgres would walk what waits. */
const claimOfPath: PreparedStatement = {
  name: 'claim-delivery-to-path',
  text: claimOf(`
    SELECT id, ${claimedColumns} FROM webhook_deliveries
    WHERE tenant_id = $1 AND ${receiverColumn} BETWEEN $4 AND $4
      AND ${pathColumn} BETWEEN $5 AND $5 AND attempts = 0 AND ${isDue}
    ORDER BY ${receiverColumn}, ${pathColumn}, next_attempt_at LIMIT 1 FOR UPDATE SKIP LOCKED`),
};

/** In the order of the index of receivers. */
const claimOfReceiver: PreparedStatement = {
  name: 'claim-delivery-to-receiver',
  text: claimOf(`
    SELECT id, ${claimedColumns} FROM webhook_deliveries
    WHERE tenant_id = $1 AND ${receiverColumn} BETWEEN $4 AND $4 AND ${isDue}
    ORDER BY ${receiverColumn}, next_attempt_at LIMIT 1 FOR UPDATE SKIP LOCKED`),
};

/**
 * A receiver behind `from`, and a path of it, that a first attempt is due to and has a place. One
 * step into the index for each path, and for each receiver that is full. Of the first receiver, the
 * walk begins behind the path of `from`: it may have more failing paths than a walk has steps.
 */
async function pathOfFirstAttempt(
  sql: Sql,
  tenantId: string,
  from: readonly [receiver: string, path: string],
): Promise<readonly [receiver: string, path: string] | undefined> {
  const next = (receiver: string, path: string): string =>
    `SELECT ${receiverColumn} AS receiver, ${pathColumn} AS path, next_attempt_at
     FROM webhook_deliveries
     WHERE tenant_id = $1 AND status = 'pending' AND ${isUnderstood} AND attempts = 0
       AND (${receiverColumn}, ${pathColumn}) > (${receiver}, ${path})
     ORDER BY ${receiverColumn}, ${pathColumn}, next_attempt_at LIMIT 1`;
  const [row] = await sql.query<{ receiver: string; path: string }>(
    `WITH RECURSIVE held AS MATERIALIZED (
       SELECT ${fullReceivers} AS "full", ${withoutRetryPlaces} AS without_retry_places),
     start AS MATERIALIZED (${next('$2', `''`)}),
     paths AS (
       (${next('(SELECT receiver FROM start)', '$3')})
       UNION ALL
       SELECT next.* FROM paths, LATERAL (${next(
         'paths.receiver',
         `CASE WHEN paths.receiver = ANY ((SELECT held."full" FROM held)::text[])
            THEN '${behindAllPaths}' ELSE paths.path END`,
       )}) next
     )
     SELECT receiver, path FROM (SELECT * FROM paths LIMIT ${claimStepsMax}) passed, held
     WHERE next_attempt_at <= now() AND receiver <> ALL (held."full")
       AND (receiver <> ALL (without_retry_places) OR NOT ${isFailing('passed.path')}) LIMIT 1`,
    [tenantId, ...from],
  );
  return row && [row.receiver, row.path];
}

/** A receiver behind `from` that a delivery is due to. One step into the index for each. */
async function dueReceiver(
  sql: Sql,
  tenantId: string,
  full: readonly string[],
  from: string,
): Promise<string | undefined> {
  const next = (after: string): string =>
    `SELECT ${receiverColumn} AS receiver, next_attempt_at FROM webhook_deliveries
     WHERE tenant_id = $1 AND status = 'pending' AND ${isUnderstood} AND ${receiverColumn} > ${after}
     ORDER BY ${receiverColumn}, next_attempt_at LIMIT 1`;
  const [row] = await sql.query<{ receiver: string }>(
    `WITH RECURSIVE receivers AS (
       (${next('$3')})
       UNION ALL
       SELECT next.* FROM receivers, LATERAL (${next('receivers.receiver')}) next
     )
     SELECT receiver FROM (SELECT * FROM receivers LIMIT ${claimStepsMax}) passed
     WHERE next_attempt_at <= now() AND receiver <> ALL ($2) LIMIT 1`,
    [tenantId, full, from],
  );
  return row?.receiver;
}
