import type { Sql } from '@glovebox/database';
import { Conditions, type CursorQuery } from '../lists/cursor';
import type { DeliveryRow, DeliveryStatus } from './deliveries.dto';

// A webhook is in one of two tables: in `webhook_deliveries` while it is tried, in
// `ended_deliveries` after that. A replay moves it back.

const shown = `id, run_id AS "runId", reactor_id AS "reactorId", webhook_id AS "webhookId", status,
  callback_url AS "callbackUrl", attempt_log AS attempts`;
const ended = `${shown}, outcome, body IS NOT NULL AS "isReplayable",
  NULL::timestamptz AS "nextAttemptAt", created_at AS "createdAt", ended_at AS "endedAt"`;
/** Workers of the release before leave a webhook here when it has ended. */
const waiting = `${shown}, NULL AS outcome, false AS "isReplayable",
  CASE WHEN status = 'pending' THEN next_attempt_at END AS "nextAttemptAt",
  created_at AS "createdAt", CASE WHEN status <> 'pending' THEN next_attempt_at END AS "endedAt"`;

/** Webhooks by their columns. The receiver is the keyed hash of the host. */
interface Selection extends Partial<Omit<CursorQuery, 'size'>> {
  readonly status?: DeliveryStatus | undefined;
  readonly reactorId?: string | undefined;
  readonly receiver?: string | undefined;
}

/** Selects the webhooks with these ids, of a tenant. */
export const deliveriesById = `SELECT ${ended} FROM ended_deliveries
    WHERE tenant_id = $2 AND id = ANY ($1)
  UNION ALL SELECT ${waiting} FROM webhook_deliveries WHERE tenant_id = $2 AND id = ANY ($1)`;

/** The statement of a part of the list. It finds one id more than the part has, if there is one. */
export function listStatement(
  tenantId: string,
  selection: Selection,
  size: number,
): { readonly text: string; readonly values: readonly unknown[] } {
  const inLog = selected(new Conditions(), tenantId, selection);
  const inQueue = selected(new Conditions(inLog), tenantId, selection);
  const limit = `ORDER BY id DESC LIMIT ${inLog.parameter(size + 1)}`;
  return {
    text: `(SELECT id FROM ended_deliveries WHERE ${inLog} ${limit}) UNION ALL
      (SELECT id FROM webhook_deliveries WHERE ${inQueue} ${limit}) ${limit}`,
    values: inLog.values,
  };
}

function selected(where: Conditions, tenantId: string, selection: Selection): Conditions {
  return where
    .add('tenant_id =', tenantId)
    .add('status =', selection.status)
    .add('reactor_id =', selection.reactorId)
    .add('receiver =', selection.receiver)
    .addRange(selection);
}

export async function findDelivery(
  sql: Sql,
  tenantId: string,
  id: string,
): Promise<DeliveryRow | undefined> {
  const [row] = await sql.query<DeliveryRow>(
    `SELECT ${ended} FROM ended_deliveries WHERE tenant_id = $1 AND id = $2
     UNION ALL
     SELECT ${waiting} FROM webhook_deliveries WHERE tenant_id = $1 AND id = $2`,
    [tenantId, id],
  );
  return row;
}

/** A webhook as far as a replay of it is decided. */
interface ReplayableDelivery {
  readonly id: string;
  readonly sights: unknown;
  readonly isErased: boolean;
}

/**
 * Returns those of the webhooks that wait, or whose data was not erased by age, newest first. Sights
 * outlast a body that was erased because its data was gone.
 */
export function replayableDeliveries(
  sql: Sql,
  tenantId: string,
  ids: readonly string[],
): Promise<ReplayableDelivery[]> {
  return sql.query<ReplayableDelivery>(
    `SELECT id, sights, body IS NULL AS "isErased" FROM ended_deliveries
     WHERE tenant_id = $1 AND id = ANY ($2) AND (body IS NOT NULL OR sights IS NOT NULL)
     UNION ALL
     SELECT id, sights, false FROM webhook_deliveries
     WHERE tenant_id = $1 AND id = ANY ($2) AND status = 'pending'
     ORDER BY id DESC`,
    [tenantId, ids],
  );
}

/** The newest ended webhooks that match, with or without a body. */
export async function endedDeliveries(
  sql: Sql,
  tenantId: string,
  selection: Selection,
  limit: number,
): Promise<string[]> {
  const where = selected(new Conditions(), tenantId, selection);
  const rows = await sql.query<{ id: string }>(
    `SELECT id FROM ended_deliveries WHERE ${where}
     ORDER BY id DESC LIMIT ${where.parameter(limit)}`,
    where.values,
  );
  return rows.map(({ id }) => id);
}

/** The runs and webhooks of the tenant that wait, counted up to a number. */
export async function countWaiting(sql: Sql, tenantId: string, max: number): Promise<number> {
  const [row] = await sql.query<{ waiting: number }>(
    `SELECT (
       (SELECT count(*) FROM (
         SELECT FROM reactor_runs WHERE tenant_id = $1 AND status = 'pending' LIMIT $2) r)
       + (SELECT count(*) FROM (
         SELECT FROM webhook_deliveries WHERE tenant_id = $1 AND status = 'pending' LIMIT $2) d)
     )::int AS waiting`,
    [tenantId, max],
  );
  return row?.waiting ?? 0;
}

/**
 * Puts ended webhooks back into the queue, due at once, with all their retries ahead. Returns the
 * ids of those that still have their body, and that nobody else puts back.
 */
export async function requeue(
  sql: Sql,
  tenantId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `WITH again AS (
       DELETE FROM ended_deliveries
       WHERE tenant_id = $1 AND id = ANY ($2) AND body IS NOT NULL RETURNING *)
     INSERT INTO webhook_deliveries (id, tenant_id, run_id, reactor_id, webhook_id, callback_url,
       receiver, path, body, sights, status, attempt_log, next_attempt_at, created_at)
     SELECT id, tenant_id, run_id, reactor_id, webhook_id, callback_url, receiver, path, body, sights,
       'pending', attempt_log, now(), created_at FROM again
     RETURNING id`,
    [tenantId, ids],
  );
  return rows.map(({ id }) => id);
}

/**
 * Makes webhooks that wait for their next attempt due at once, with all their retries ahead. Leaves
 * out those that are due already, or that a worker sends.
 */
export async function sendNow(
  sql: Sql,
  tenantId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `UPDATE webhook_deliveries SET next_attempt_at = now(), attempts = 0, unsent_tries = 0
     WHERE tenant_id = $1 AND id = ANY ($2) AND status = 'pending' AND place IS NULL
       AND next_attempt_at > now()
     RETURNING id`,
    [tenantId, ids],
  );
  return rows.map(({ id }) => id);
}
