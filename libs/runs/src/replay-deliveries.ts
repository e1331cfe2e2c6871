import type { Sql } from '@glovebox/database';

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
     WHERE tenant_id = $1 AND id = ANY ($2)
     ORDER BY id DESC`,
    [tenantId, ids],
  );
}

/**
 * A replay chooses its webhooks before another one commits, which chose them as well. One that a worker
 * has sent for the other one meanwhile is not put back again: it ended after this transaction began.
 * Both times are rounded to the milliseconds of the column.
 */
const replayed = `tenant_id = $1 AND id = ANY ($2) AND body IS NOT NULL
  AND ended_at <= now()::timestamptz(3)`;

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
       DELETE FROM ended_deliveries WHERE ${replayed} RETURNING *)
     INSERT INTO webhook_deliveries (id, tenant_id, run_id, reactor_id, webhook_id, callback_url,
       receiver, path, body, sights, reader_version, status, attempt_log, next_attempt_at, created_at)
     SELECT id, tenant_id, run_id, reactor_id, webhook_id, callback_url, receiver, path, body, sights,
       reader_version, 'pending', attempt_log, now(), created_at FROM again
     RETURNING id`,
    [tenantId, ids],
  );
  return rows.map(({ id }) => id);
}

/** The ids of those that `requeue` would put back at this moment. */
export async function requeueable(
  sql: Sql,
  tenantId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `SELECT id FROM ended_deliveries WHERE ${replayed}`,
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
