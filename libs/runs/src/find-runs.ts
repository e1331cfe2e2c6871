import { Conditions, type CursorQuery, type Sql } from '@glovebox/database';
import type { Attempt } from './delivery-queue';
import { attemptColumn } from './held-rows';
import { repetitionIn } from './repetitions';

export const runStatuses = ['pending', 'running', 'held', 'completed', 'failed'] as const;
type RunStatus = (typeof runStatuses)[number];
export const runKinds = ['reactor', 'transform'] as const;
type RunKind = (typeof runKinds)[number];

/** Selects runs. Both times are inclusive. */
export interface RunQuery extends CursorQuery {
  readonly resourceId: string | undefined;
  readonly status: RunStatus | undefined;
  readonly kind: RunKind | undefined;
  readonly traceId: string | undefined;
}

export interface RunRow {
  id: string;
  kind: string;
  resourceId: string;
  applicationId: string | null;
  mode: string;
  status: string;
  outcome: string | null;
  httpStatus: number | null;
  argumentNames: string[] | null;
  tokenIds: string[] | null;
  traceId: string;
  attempt: number;
  queuedMs: number | null;
  durationMs: number | null;
  position: { line: number; column: number } | null;
  createdAt: Date;
  startedAt: Date | null;
  endedAt: Date | null;
  /** Null: its arguments are not kept. */
  argumentsKeptUntil: Date | null;
  /** The run that it repeats. */
  rerunOf: string | null;
}

/** A run with its sealed texts. A list leaves them out: each would have to be opened. */
export interface WholeRunRow extends RunRow {
  readonly lines: Buffer | null;
  readonly reason: Buffer | null;
  /** Null: recorded before runs had one, or the run has not ended. */
  readonly codeId: string | null;
}

// A run is in one of two tables: async runs wait in `reactor_runs`, and a run that has ended is in
// `ended_runs`. It moves in one transaction, so that one statement over both finds it once.

const ended = `id, kind, resource_id AS "resourceId", application_id AS "applicationId", mode,
  status, outcome, http_status AS "httpStatus", argument_names AS "argumentNames",
  token_ids AS "tokenIds", trace_id AS "traceId", attempt, queued_ms AS "queuedMs",
  duration_ms AS "durationMs", position, created_at AS "createdAt", started_at AS "startedAt",
  ended_at AS "endedAt",
  (SELECT kept_until FROM kept_arguments k
   WHERE k.tenant_id = ended_runs.tenant_id AND k.run_id = ended_runs.id AND kept_until > now())
    AS "argumentsKeptUntil",
  ${repetitionIn('ended_runs')}`;
const waiting = `id, 'reactor' AS kind, reactor_id AS "resourceId", actor_id AS "applicationId",
  'async' AS mode, status, NULL AS outcome, NULL::smallint AS "httpStatus",
  NULL::text[] AS "argumentNames", NULL::text[] AS "tokenIds", trace_id AS "traceId",
  ${attemptColumn} AS attempt, NULL::integer AS "queuedMs",
  NULL::integer AS "durationMs", NULL::jsonb AS position, created_at AS "createdAt",
  started_at AS "startedAt", NULL::timestamptz AS "endedAt",
  NULL::timestamptz AS "argumentsKeptUntil",
  ${repetitionIn('reactor_runs')}`;

/** Selects the runs with these ids, of a tenant. */
export const runsById = `SELECT ${ended} FROM ended_runs WHERE tenant_id = $2 AND id = ANY ($1)
  UNION ALL SELECT ${waiting} FROM reactor_runs WHERE tenant_id = $2 AND id = ANY ($1)`;

/** The ids of a part of the log: one more than the part has, if there is one. */
export async function findRunIds(sql: Sql, tenantId: string, query: RunQuery): Promise<string[]> {
  const shared = new Conditions();
  const limit = `ORDER BY id DESC LIMIT ${shared.parameter(query.size + 1)}`;
  const hasEnded = query.status === 'completed' || query.status === 'failed';
  const parts: string[] = [];
  if (!hasEnded) {
    const inQueue = selected(shared, tenantId, 'reactor_id', query).add(`'reactor' =`, query.kind);
    parts.push(`(SELECT id FROM reactor_runs WHERE ${inQueue} ${limit})`);
  }
  if (query.status === undefined || hasEnded) {
    const inLog = selected(shared, tenantId, 'resource_id', query).add('kind =', query.kind);
    parts.push(`(SELECT id FROM ended_runs WHERE ${inLog} ${limit})`);
  }
  const rows = await sql.query<{ id: string }>(
    `SELECT id FROM (${parts.join(' UNION ALL ')}) runs ${limit}`,
    shared.values,
  );
  return rows.map(({ id }) => id);
}

function selected(
  shared: Conditions,
  tenantId: string,
  resource: 'resource_id' | 'reactor_id',
  query: RunQuery,
): Conditions {
  return new Conditions(shared)
    .add('tenant_id =', tenantId)
    .add(`${resource} =`, query.resourceId)
    .add('status =', query.status)
    .add('trace_id =', query.traceId)
    .addRange(query);
}

export async function findRun(
  sql: Sql,
  tenantId: string,
  id: string,
): Promise<WholeRunRow | undefined> {
  const [row] = await sql.query<WholeRunRow>(
    `SELECT ${ended}, lines, reason, code_id AS "codeId" FROM ended_runs WHERE tenant_id = $1 AND id = $2
     UNION ALL
     SELECT ${waiting}, NULL, NULL, NULL FROM reactor_runs WHERE tenant_id = $1 AND id = $2`,
    [tenantId, id],
  );
  return row;
}

/** The webhook of a run has the id of its run. */
export async function webhookOfRun(
  sql: Sql,
  tenantId: string,
  id: string,
): Promise<{ status: string; attempts: Attempt[] } | undefined> {
  const [row] = await sql.query<{ status: string; attempts: Attempt[] }>(
    `SELECT status, attempt_log AS attempts FROM ended_deliveries WHERE tenant_id = $1 AND id = $2
     UNION ALL
     SELECT status, attempt_log FROM webhook_deliveries WHERE tenant_id = $1 AND id = $2`,
    [tenantId, id],
  );
  return row;
}

/** The end of an async run. Its answer is the body of its webhook, sealed. */
export interface ResultRow {
  /** Where it is pending, running or held, the other members mean nothing. */
  readonly status: string;
  readonly outcome: string;
  readonly httpStatus: number;
  readonly endedAt: Date;
  readonly hasWebhook: boolean;
  /** Null: it was erased, or is large and not read yet. */
  readonly body: Buffer | null;
  readonly isLarge: boolean;
  readonly sights: unknown;
}

/** A larger result is read by itself, when it is its turn. */
const smallResultBytesMax = 64 * 1024;

/** Finds a run that the application started, until a day after its end. */
export async function findResult(
  sql: Sql,
  run: {
    readonly tenantId: string;
    readonly id: string;
    readonly reactorId: string;
    readonly applicationId: string;
  },
): Promise<ResultRow | undefined> {
  const [row] = await sql.query<ResultRow>(
    `WITH run AS (
       SELECT status, status AS outcome, 0 AS http_status, created_at AS ended_at
       FROM reactor_runs
       WHERE tenant_id = $1 AND id = $2 AND reactor_id = $3 AND actor_id = $4
       UNION ALL
       SELECT status, outcome, http_status, ended_at FROM ended_runs
       WHERE tenant_id = $1 AND id = $2 AND resource_id = $3 AND application_id = $4
         AND mode = 'async' AND ended_at > now() - interval '24 hours'
     ), webhook AS (
       SELECT true AS found, body, sights FROM webhook_deliveries
       WHERE tenant_id = $1 AND id = $2
       UNION ALL
       SELECT true, body, sights FROM ended_deliveries
       WHERE tenant_id = $1 AND id = $2
     )
     SELECT status, outcome, http_status AS "httpStatus", ended_at AS "endedAt",
       found IS TRUE AS "hasWebhook", is_large AS "isLarge",
       CASE WHEN NOT is_large THEN body END AS body, sights
     FROM run LEFT JOIN webhook ON true CROSS JOIN LATERAL (
       SELECT coalesce(octet_length(body), 0) > ${smallResultBytesMax} AS is_large) size`,
    [run.tenantId, run.id, run.reactorId, run.applicationId],
  );
  return row;
}

/** Reads a large result. Null: it was erased meanwhile. */
export async function readResult(sql: Sql, tenantId: string, id: string): Promise<Buffer | null> {
  const [row] = await sql.query<Pick<ResultRow, 'body'>>(
    `SELECT body FROM webhook_deliveries WHERE tenant_id = $1 AND id = $2
     UNION ALL
     SELECT body FROM ended_deliveries WHERE tenant_id = $1 AND id = $2`,
    [tenantId, id],
  );
  return row?.body ?? null;
}
