import type { Sql, SqlPool } from '@glovebox/database';
import type { QueueName } from './waiting-rows';

// After a restore, or a failover that lost commits, a row may be of a run that had ended, or of a
// webhook that was sent. So it is held until an operator decides: docs/adr/0085.

/**
 * Claims that the database forgot have lower fences than each claim after a hold. An attempt counts
 * without it.
 */
const fencesOfHold = 1_000_000;
export const attemptColumn = `greatest(fence % ${fencesOfHold}, 1)::integer`;
export const attemptOf = (fence: string | number): number => Number(fence) % fencesOfHold;

/** Part of every claim: no row of a database that is not accepted yet, or that holds, is claimed. */
export const isOpen = '(SELECT queues_are_open())';

const tables = { runs: 'reactor_runs', deliveries: 'webhook_deliveries' } as const;
const queueNames = ['runs', 'deliveries'] as const;
const held = {
  runs: `status = 'held', lease_until = NULL`,
  deliveries: `status = 'held', place = NULL, place_until = NULL`,
} as const;
const released = {
  runs: `status = 'pending', faults = 0, due_at = now()`,
  deliveries: `status = 'pending', unsent_tries = 0, next_attempt_at = now()`,
} as const;

/** Rows that one statement looks at. The product is at work meanwhile. */
const rowsAtOnceMax = 2_000;
const beforeAll = '00000000-0000-0000-0000-000000000000';

/** Rows of both queues. */
export type HeldCounts = Readonly<Record<QueueName, number>>;

/** Adds up what a step does to each queue, as long as it hands on a place to go on from. */
async function inParts<Place>(
  from: Place,
  step: (queue: QueueName, from: Place) => Promise<{ count: number; next: Place | undefined }>,
): Promise<HeldCounts> {
  const counts = { runs: 0, deliveries: 0 };
  for (const queue of queueNames) {
    for (let place: Place | undefined = from; place !== undefined;) {
      const { count, next }: Awaited<ReturnType<typeof step>> = await step(queue, place);
      counts[queue] += count;
      place = next;
    }
  }
  return counts;
}

/** Holds all that waits or is claimed, once through each queue in the order of ids. */
export const holdQueues = (sql: Sql): Promise<HeldCounts> =>
  inParts(beforeAll, async (queue, after) => {
    const [part] = await sql.query<{ last: string | null; count: number; seen: number }>(
      `WITH part AS MATERIALIZED (
         SELECT id FROM ${tables[queue]} WHERE id > $1 ORDER BY id LIMIT ${rowsAtOnceMax}),
       held AS (
         UPDATE ${tables[queue]} waiting SET ${held[queue]}, fence = fence + ${fencesOfHold}
         FROM part WHERE waiting.id = part.id AND status IN ('pending', 'running') RETURNING 1)
       SELECT (SELECT id FROM part ORDER BY id DESC LIMIT 1) AS last,
         (SELECT count(*)::int FROM held) AS count, (SELECT count(*)::int FROM part) AS seen`,
      [after],
    );
    const isFull = part?.seen === rowsAtOnceMax;
    return { count: part?.count ?? 0, next: isFull ? (part.last ?? undefined) : undefined };
  });

/**
 * One at a time holds queues, to the end of its transaction. A second one that still walked through
 * them when the first had opened them would hold what came after the loss.
 */
const holdLock = `hashtext('glovebox hold')`;

/** Waits for whoever holds queues, and keeps others from it to the end of the transaction. */
export async function holdAlone(sql: Sql): Promise<void> {
  await stayOpen(sql);
  await sql.query(`SELECT pg_advisory_xact_lock(${holdLock})`);
}

/** The connection of the lock is idle for as long as the work on the others takes. */
const stayOpen = (sql: Sql): Promise<unknown> =>
  sql.query(
    `SELECT set_config(name, '0', true) FROM pg_settings
     WHERE name IN ('idle_in_transaction_session_timeout', 'transaction_timeout')`,
  );

/**
 * Holds the queues of a database that lost commits in a failover, and opens them again. Any worker
 * does it. Undefined: nothing was lost, or another one is at it.
 */
export async function holdAfterLoss(database: SqlPool): Promise<HeldCounts | undefined> {
  if (!(await isHolding(database))) return undefined;
  return database.transaction(async (alone) => {
    await stayOpen(alone);
    const [lock] = await alone.query<{ isMine: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${holdLock}) AS "isMine"`,
    );
    if (!lock?.isMine || !(await isHolding(database))) return undefined;
    const counts = await holdQueues(database);
    await database.query('SELECT end_hold()');
    return counts;
  });
}

async function isHolding(sql: Sql): Promise<boolean> {
  const [head] = await sql.query<{ holds: boolean }>(
    'SELECT holds AND database_is_known() AS holds FROM definition_head',
  );
  return head?.holds === true;
}

/** The held rows that a decision is about. */
export interface HeldSelection {
  readonly tenantId?: string | undefined;
  /** Only those of runs that were accepted before. */
  readonly before?: Date | undefined;
}

type Place = readonly [tenantId: string, id: string];
const start: Place = [beforeAll, beforeAll];

/** Reads a part of the held rows, in the order of their index, and does something with them. */
async function decide(
  sql: Sql,
  { tenantId, before }: HeldSelection,
  effect: (queue: QueueName) => string,
): Promise<HeldCounts> {
  return inParts(start, async (queue, [afterTenant, afterId]) => {
    const [part] = await sql.query<{
      tenantId: string | null;
      id: string;
      count: number;
      seen: number;
    }>(
      `WITH part AS MATERIALIZED (
         SELECT tenant_id, id, created_at FROM ${tables[queue]}
         WHERE status = 'held' AND (tenant_id, id) > ($1::uuid, $2::uuid)
           AND ($3::uuid IS NULL OR tenant_id = $3)
         ORDER BY tenant_id, id LIMIT ${rowsAtOnceMax}),
       chosen AS MATERIALIZED (
         SELECT id FROM part WHERE $4::timestamptz IS NULL OR created_at < $4),
       ${effect(queue)}
       SELECT last.tenant_id AS "tenantId", last.id, (SELECT count(*)::int FROM done) AS count,
         (SELECT count(*)::int FROM part) AS seen
       FROM (VALUES (1)) one LEFT JOIN LATERAL (
         SELECT tenant_id, id FROM part ORDER BY tenant_id DESC, id DESC LIMIT 1) last ON true`,
      [afterTenant, afterId, tenantId ?? null, before ?? null],
    );
    const isFull = part?.seen === rowsAtOnceMax && part.tenantId !== null;
    return {
      count: part?.count ?? 0,
      next: isFull ? ([part.tenantId ?? '', part.id] as const) : undefined,
    };
  });
}

/** Makes held rows due. A run whose code had started is reported as `run_interrupted`. */
export const releaseHeld = (sql: Sql, selection: HeldSelection): Promise<HeldCounts> =>
  decide(
    sql,
    selection,
    (queue) => `done AS (
      UPDATE ${tables[queue]} waiting SET ${released[queue]} FROM chosen
      WHERE waiting.id = chosen.id AND status = 'held' RETURNING 1)`,
  );

const ended = (queue: QueueName): string => `ended AS (
  DELETE FROM ${tables[queue]} waiting USING chosen
  WHERE waiting.id = chosen.id AND status = 'held' RETURNING waiting.*)`;

/** Ends held rows. Nothing is run, and nothing is sent. A webhook keeps its body for a replay. */
export const failHeld = (sql: Sql, selection: HeldSelection): Promise<HeldCounts> =>
  decide(sql, selection, (queue) =>
    queue === 'runs'
      ? `${ended('runs')},
         done AS (
           INSERT INTO ended_runs (tenant_id, id, kind, resource_id, application_id, mode, status,
             outcome, http_status, argument_names, token_ids, trace_id, attempt, queued_ms,
             duration_ms, created_at, started_at, ended_at)
           SELECT tenant_id, id, 'reactor', reactor_id, actor_id, 'async', 'failed',
             'run_interrupted', 500, '{}', '{}', trace_id, ${attemptColumn}, 0, 0, created_at,
             started_at, now() FROM ended RETURNING 1)`
      : `${ended('deliveries')},
         done AS (
           INSERT INTO ended_deliveries (tenant_id, id, run_id, reactor_id, webhook_id, status,
             callback_url, receiver, path, body, sights, attempt_log, outcome, created_at, ended_at)
           SELECT tenant_id, id, run_id, reactor_id, webhook_id, 'failed', callback_url, receiver,
             path, CASE WHEN NOT sights_are_gone(tenant_id, sights) THEN body END, sights,
             attempt_log, 'held', created_at, now() FROM ended RETURNING 1)`,
  );

/** Held rows of a tenant. */
export interface HeldOfTenant extends HeldCounts {
  readonly tenantId: string;
  /** The acceptance of its oldest held run. */
  readonly oldest: Date;
}

/** The tenants with most held rows, by one walk through the indexes of held rows. */
export async function heldByTenant(sql: Sql, tenantsMax: number): Promise<HeldOfTenant[]> {
  return sql.query<HeldOfTenant>(
    `SELECT tenant_id AS "tenantId", sum(runs)::int AS runs, sum(deliveries)::int AS deliveries,
       min(oldest) AS oldest
     FROM (
       SELECT tenant_id, count(*) AS runs, 0 AS deliveries, min(created_at) AS oldest
       FROM reactor_runs WHERE status = 'held' GROUP BY tenant_id
       UNION ALL
       SELECT tenant_id, 0, count(*), min(created_at)
       FROM webhook_deliveries WHERE status = 'held' GROUP BY tenant_id) held
     GROUP BY tenant_id ORDER BY sum(runs) + sum(deliveries) DESC, tenant_id LIMIT $1`,
    [tenantsMax],
  );
}
