import { timeOrderedId, type Sql } from '@glovebox/database';

/** Somebody who is shown copies of the webhooks of a tenant, from the moment of `addListener` on. */
export interface Listener {
  readonly id: string;
  readonly tenantId: string;
  readonly applicationId: string;
}

export const leaseOfListenerMs = 60_000;
/**
 * Webhooks are noted for so much longer, so that one which is added while the lease is renewed is
 * noted whichever transaction comes first.
 */
const graceMs = 15_000;
const leaseLeft = `lease_until > now() + ${graceMs} * interval '1 millisecond'`;
const leaseFromNow = `now() + ${leaseOfListenerMs + graceMs} * interval '1 millisecond'`;

/** Webhooks that may wait for a listener. One that falls further behind ends. */
export const unheardMax = 10_000;
/** Webhooks and bytes of bodies in one part. A larger body comes alone. */
export const partMax = 20;
const partBytesMax = 1024 * 1024;

/** Undefined: the tenant has as many as it may have. */
export async function addListener(
  sql: Sql,
  { tenantId, applicationId }: Omit<Listener, 'id'>,
  reactorId: string | undefined,
  atMost: number,
): Promise<string | undefined> {
  await sql.query(`SELECT pg_advisory_xact_lock(hashtextextended('listeners ' || $1, 0))`, [
    tenantId,
  ]);
  const [added] = await sql.query<{ id: string }>(
    `INSERT INTO webhook_listeners (id, tenant_id, application_id, reactor_id, lease_until)
     SELECT $2, $1, $3, $4, ${leaseFromNow}
     WHERE (SELECT count(*) FROM webhook_listeners WHERE tenant_id = $1 AND ${leaseLeft}) < $5
     RETURNING id`,
    [tenantId, timeOrderedId(), applicationId, reactorId, atMost],
  );
  return added?.id;
}

export async function endListener(
  sql: Sql,
  { id, tenantId, applicationId }: Listener,
): Promise<boolean> {
  const ended = await sql.query(
    `WITH ended AS (
       DELETE FROM webhook_listeners
       WHERE id = $1 AND tenant_id = $2 AND application_id = $3 AND ${leaseLeft} RETURNING id),
     unheard AS (
       DELETE FROM listened_webhooks w USING ended WHERE w.listener_id = ended.id)
     SELECT id FROM ended`,
    [id, tenantId, applicationId],
  );
  return ended.length > 0;
}

/**
 * Renews the lease and drops what was heard: the parts up to this one. False: the lease is over, the
 * listener is too far behind, or it is that of somebody else.
 */
export async function renewListener(
  sql: Sql,
  { id, tenantId, applicationId }: Listener,
  heardPart: number,
): Promise<boolean> {
  const renewed = await sql.query(
    `UPDATE webhook_listeners SET lease_until = ${leaseFromNow}
     WHERE id = $1 AND tenant_id = $2 AND application_id = $3 AND ${leaseLeft} RETURNING id`,
    [id, tenantId, applicationId],
  );
  if (renewed.length === 0) return false;
  await sql.query('DELETE FROM listened_webhooks WHERE listener_id = $1 AND part <= $2', [
    id,
    heardPart,
  ]);
  const [waiting] = await sql.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM (
       SELECT FROM listened_webhooks WHERE listener_id = $1 LIMIT $2) unheard`,
    [id, unheardMax + 1],
  );
  return (waiting?.count ?? 0) <= unheardMax;
}

/** A webhook to copy, still sealed. */
export interface ListenedWebhook {
  readonly id: string;
  readonly part: number;
  readonly webhookId: string;
  readonly reactorId: string | null;
  readonly createdAt: Date;
  readonly sights: unknown;
  /** Null: it was erased, or the whole webhook was. */
  readonly body: Buffer | null;
}

/**
 * The part that was not confirmed yet, or the next one. A part stays what it is until it is confirmed,
 * so that an answer that did not arrive is given again. Takes part in the transaction of the renewal,
 * which holds the row of the listener.
 */
export async function nextPart(sql: Sql, { id }: Listener): Promise<ListenedWebhook[]> {
  await sql.query(numberNextPart, [id, partMax, partBytesMax]);
  return sql.query<ListenedWebhook>(
    `SELECT l.delivery_id AS id, l.part::int AS part, w.reactor_id AS "reactorId",
       coalesce(w.webhook_id, 'msg_' || l.delivery_id) AS "webhookId",
       coalesce(w.created_at, now()) AS "createdAt", w.sights, w.body
     FROM listened_webhooks l LEFT JOIN LATERAL (
       SELECT webhook_id, reactor_id, created_at, sights, body FROM webhook_deliveries d
       WHERE d.tenant_id = l.tenant_id AND d.id = l.delivery_id
       UNION ALL
       SELECT webhook_id, reactor_id, created_at, sights, body FROM ended_deliveries d
       WHERE d.tenant_id = l.tenant_id AND d.id = l.delivery_id) w ON true
     WHERE l.listener_id = $1 AND l.part IS NOT NULL ORDER BY l.nth`,
    [id],
  );
}

const numberNextPart = `
  WITH waiting AS (
    SELECT l.nth, l.delivery_id, l.tenant_id FROM listened_webhooks l
    WHERE l.listener_id = $1 AND NOT EXISTS (
      SELECT FROM listened_webhooks WHERE listener_id = $1 AND part IS NOT NULL)
    ORDER BY l.nth LIMIT $2),
  sized AS (
    SELECT nth, row_number() OVER before AS place, sum(bytes) OVER before AS so_far
    FROM (
      SELECT w.nth, coalesce(
        (SELECT octet_length(body) FROM webhook_deliveries d
         WHERE d.tenant_id = w.tenant_id AND d.id = w.delivery_id),
        (SELECT octet_length(body) FROM ended_deliveries d
         WHERE d.tenant_id = w.tenant_id AND d.id = w.delivery_id), 0) AS bytes
      FROM waiting w) bytes_of
    WINDOW before AS (ORDER BY nth)),
  numbered AS (
    UPDATE webhook_listeners SET last_part = last_part + 1
    WHERE id = $1 AND EXISTS (SELECT FROM waiting) RETURNING last_part)
  UPDATE listened_webhooks l SET part = last_part FROM numbered, sized
  WHERE l.listener_id = $1 AND l.nth = sized.nth AND (sized.place = 1 OR sized.so_far <= $3)`;

/** Those of the listeners for which a webhook waits. */
export async function listenersWithNews(sql: Sql, ids: readonly string[]): Promise<string[]> {
  const found = await sql.query<{ id: string }>('SELECT listeners_with_news($1) AS id', [ids]);
  return found.map(({ id }) => id);
}
