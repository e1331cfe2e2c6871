import { Conditions, type CursorQuery, type Sql } from '@glovebox/database';
import type { CallOutcome } from './call-outcomes';
import { latencyBoundsMs, minuteMs } from './call-summary';

/** Selects calls by the time of their end. Both times are inclusive. */
export interface CallQuery extends CursorQuery {
  readonly proxyId: string | undefined;
  readonly reactorId: string | undefined;
  readonly applicationId: string | undefined;
  readonly status: number | undefined;
  readonly code: string | undefined;
  /** None: calls of every outcome. */
  readonly outcomes: readonly CallOutcome[];
  readonly traceId: string | undefined;
}

export interface CallRow {
  id: string;
  method: string;
  path: string;
  outcome: string;
  status: number | null;
  destinationStatus: number | null;
  code: string | null;
  cause: Record<string, unknown> | null;
  applicationId: string | null;
  proxyId: string | null;
  reactorId: string | null;
  traceId: string | null;
  decidedMs: number | null;
  askedMs: number | null;
  answeredMs: number | null;
  /** Null: the row stands for calls that have nothing but their outcome in common. */
  endedMs: number | null;
  requestBytes: number | null;
  answerBytes: number | null;
  tokenIds: string[];
  runId: string | null;
  requestRunId: string | null;
  responseRunId: string | null;
  count: number;
  createdAt: Date;
}

/** Selects the calls with these ids, of a tenant. */
export const callsById = `SELECT id, method, path, outcome, status,
    destination_status AS "destinationStatus", code, cause, application_id AS "applicationId",
    proxy_id AS "proxyId", reactor_id AS "reactorId", trace_id AS "traceId",
    decided_ms AS "decidedMs", asked_ms AS "askedMs", answered_ms AS "answeredMs",
    ended_ms AS "endedMs", request_bytes::float8 AS "requestBytes",
    answer_bytes::float8 AS "answerBytes", token_ids AS "tokenIds", run_id AS "runId",
    request_run_id AS "requestRunId", response_run_id AS "responseRunId", count,
    created_at AS "createdAt"
  FROM calls WHERE tenant_id = $2 AND id = ANY ($1)`;

/**
 * The ids of a part of the log: one more than the part has, if there is one. The newest calls of each
 * outcome are looked up by themselves, because one index has those of one outcome in order.
 */
export async function findCallIds(sql: Sql, tenantId: string, query: CallQuery): Promise<string[]> {
  const shared = new Conditions();
  const limit = `ORDER BY id DESC LIMIT ${shared.parameter(query.size + 1)}`;
  const outcomes = query.outcomes.length > 0 ? query.outcomes : [undefined];
  const parts = outcomes.map((outcome) => {
    const selected = new Conditions(shared)
      .add('tenant_id =', tenantId)
      .add('proxy_id =', query.proxyId)
      .add('reactor_id =', query.reactorId)
      .add('application_id =', query.applicationId)
      .add('status =', query.status)
      .add('code =', query.code)
      .add('outcome =', outcome)
      .add('trace_id =', query.traceId)
      .addRange(query);
    return `(SELECT id FROM calls WHERE ${selected} ${limit})`;
  });
  const rows = await sql.query<{ id: string }>(
    parts.length === 1
      ? `${parts[0]}`
      : `SELECT id FROM (${parts.join(' UNION ALL ')}) found ${limit}`,
    shared.values,
  );
  return rows.map(({ id }) => id);
}

export async function findCall(
  sql: Sql,
  tenantId: string,
  id: string,
): Promise<CallRow | undefined> {
  const [row] = await sql.query<CallRow>(callsById, [[id], tenantId]);
  return row;
}

/** Selects minutes. Both times are inclusive. */
export interface SummaryQuery {
  readonly from: Date;
  readonly to: Date;
  readonly resource: string | undefined;
  readonly proxyId: string | undefined;
  readonly reactorId: string | undefined;
  readonly outcome: CallOutcome | undefined;
}

export interface SummaryRow {
  minute: Date;
  path: string;
  proxyId: string | null;
  reactorId: string | null;
  outcome: string;
  calls: number;
  durationMs: number;
  latencies: number[];
}

/** Minutes of the first statement of a summary. Each further one reads twice as many. */
const firstMinutes = 10;

/**
 * The counts of each minute, the newest first, at most so many. A statement adds up all rows of its
 * time before it knows the newest. So a day of many resources is read in parts, as far as it is shown.
 */
export async function findSummary(
  sql: Sql,
  tenantId: string,
  { from, ...query }: SummaryQuery,
  rowsMax: number,
): Promise<SummaryRow[]> {
  const rows: SummaryRow[] = [];
  let { to } = query;
  for (let minutes = firstMinutes; to >= from && rows.length < rowsMax; minutes *= 2) {
    const begins = to.getTime() - (to.getTime() % minuteMs) - (minutes - 1) * minuteMs;
    const part = { ...query, from: new Date(Math.max(begins, from.getTime())), to };
    rows.push(...(await findPart(sql, tenantId, part, rowsMax - rows.length)));
    to = new Date(part.from.getTime() - 1);
  }
  return rows;
}

/** Each process has its own rows. */
function findPart(
  sql: Sql,
  tenantId: string,
  query: SummaryQuery,
  rowsMax: number,
): Promise<SummaryRow[]> {
  const selected = new Conditions()
    .add('tenant_id =', tenantId)
    .add('path =', query.resource)
    .add('proxy_id =', query.proxyId)
    .add('reactor_id =', query.reactorId)
    .add('outcome =', query.outcome)
    .addRange(query);
  const limit = selected.parameter(rowsMax);
  const classes = latencyBoundsMs.length + 1;
  const sums = Array.from({ length: classes }, (_, at) => `sum(latencies[${at + 1}])::float8`);
  return sql.query<SummaryRow>(
    `SELECT minute, path, proxy_id AS "proxyId", reactor_id AS "reactorId", outcome,
       sum(calls)::float8 AS calls, sum(duration_ms)::float8 AS "durationMs",
       ARRAY[${sums.join(', ')}] AS latencies
     FROM call_summary WHERE ${selected}
     GROUP BY minute, path, proxy_id, reactor_id, outcome
     ORDER BY minute DESC, path, proxy_id, reactor_id, outcome LIMIT ${limit}`,
    selected.values,
  );
}
