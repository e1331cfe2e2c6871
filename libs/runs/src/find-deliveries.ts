import { Conditions, type CursorQuery, type Sql } from '@glovebox/database';
import type { Attempt } from './delivery-queue';

export const deliveryStatuses = ['pending', 'held', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

export interface DeliveryRow {
  id: string;
  runId: string;
  reactorId: string | null;
  webhookId: string;
  status: string;
  callbackUrl: Buffer;
  attempts: Attempt[];
  outcome: string | null;
  isReplayable: boolean;
  nextAttemptAt: Date | null;
  createdAt: Date;
  endedAt: Date | null;
}

// A webhook is in one of two tables: in `webhook_deliveries` while it is tried, in
// `ended_deliveries` after that. A replay moves it back.

const shown = `id, run_id AS "runId", reactor_id AS "reactorId", webhook_id AS "webhookId", status,
  callback_url AS "callbackUrl", attempt_log AS attempts`;
const ended = `${shown}, outcome, body IS NOT NULL AS "isReplayable",
  NULL::timestamptz AS "nextAttemptAt", created_at AS "createdAt", ended_at AS "endedAt"`;
const waiting = `${shown}, NULL AS outcome, false AS "isReplayable",
  CASE WHEN status = 'pending' THEN next_attempt_at END AS "nextAttemptAt",
  created_at AS "createdAt", NULL::timestamptz AS "endedAt"`;

/** Webhooks by their columns. The receiver is the keyed hash of the host. */
interface Selection extends Partial<Omit<CursorQuery, 'size'>> {
  readonly status?: DeliveryStatus | undefined;
  readonly reactorId?: string | undefined;
  readonly receiver?: string | undefined;
  /** The call that started the run. A webhook has the id of its run. */
  readonly traceId?: string | undefined;
}

/** Selects the webhooks with these ids, of a tenant. */
export const deliveriesById = `SELECT ${ended} FROM ended_deliveries
    WHERE tenant_id = $2 AND id = ANY ($1)
  UNION ALL SELECT ${waiting} FROM webhook_deliveries WHERE tenant_id = $2 AND id = ANY ($1)`;

/** The ids of a part of the list: one more than the part has, if there is one. */
export async function findDeliveryIds(
  sql: Sql,
  tenantId: string,
  selection: Selection,
  size: number,
): Promise<string[]> {
  const inLog = selected(new Conditions(), tenantId, selection);
  const inQueue = selected(new Conditions(inLog), tenantId, selection);
  const limit = `ORDER BY id DESC LIMIT ${inLog.parameter(size + 1)}`;
  const rows = await sql.query<{ id: string }>(
    `(SELECT id FROM ended_deliveries WHERE ${inLog} ${limit}) UNION ALL
     (SELECT id FROM webhook_deliveries WHERE ${inQueue} ${limit}) ${limit}`,
    inLog.values,
  );
  return rows.map(({ id }) => id);
}

function selected(where: Conditions, tenantId: string, selection: Selection): Conditions {
  where.add('tenant_id =', tenantId);
  if (selection.traceId !== undefined) {
    const run = new Conditions(where)
      .add('tenant_id =', tenantId)
      .add('trace_id =', selection.traceId);
    where.addTest(`id IN (SELECT id FROM ended_runs WHERE ${run})`);
  }
  return where
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
