import { timeOrderedId, type PreparedStatement } from '@glovebox/database';
import type { Problem } from '@glovebox/problems';
import { callOutcomes, type CallOutcome } from './call-outcomes';

/**
 * A call that has ended. It holds ids and figures, and no part of a path, query, header or body. The
 * times are those of `performance.now()`.
 */
export interface EndedCall {
  readonly method: string;
  readonly traceId: string;
  readonly startedAt: number;
  /** Undefined: nobody knows whose call it is, so that it is in no log. */
  readonly tenantId: string | undefined;
  readonly applicationId: string | undefined;
  readonly proxyId: string | undefined;
  readonly reactorId: string | undefined;
  /** When the call had its place: who calls what was found and allowed. */
  readonly decidedAt: number | undefined;
  readonly askedAt: number | undefined;
  readonly answeredAt: number | undefined;
  readonly destinationStatus: number | undefined;
  readonly problem: Problem | undefined;
  /** Bytes of the bodies. */
  readonly requestBytes: number | undefined;
  readonly answerBytes: number | undefined;
  /** Tokens that the call used. */
  readonly tokenIds: readonly string[] | undefined;
  readonly runId: string | undefined;
  readonly requestRunId: string | undefined;
  readonly responseRunId: string | undefined;
}

export interface EndOfCall {
  readonly durationMs: number;
  readonly status: number | undefined;
  readonly left: boolean;
}

/** The path of a call that no operation took. */
export const unknownPath = '*';

export const callTokensMax = 100;

/** The room that a row takes in memory, but for its tokens. */
export const rowBytes = 600;

/** A row of the table, by the names of its columns. Absent members are null there. */
export interface Row {
  readonly tenant_id: string;
  readonly id: string;
  readonly created_ms: number;
  readonly outcome: CallOutcome;
  readonly path: string;
  method: string;
  application_id?: string | undefined;
  /** Calls that the row stands for. */
  count: number;
  readonly [column: string]: unknown;
}

export interface Seen {
  readonly call: EndedCall;
  readonly end: EndOfCall;
  readonly outcome: number;
  readonly now: number;
}

/** The row shows its first call. What the others do not share with it goes. */
export function addAlike(row: Row, { applicationId, method }: EndedCall): void {
  row.count += 1;
  if (row.application_id !== applicationId) row.application_id = undefined;
  if (row.method !== method) row.method = unknownPath;
}

export function rowOf(path: string, tenantId: string, { call, end, outcome, now }: Seen): Row {
  const { startedAt, problem } = call;
  const since = (at: number | undefined): number | undefined =>
    at === undefined ? undefined : roundedMs(at - startedAt);
  return {
    tenant_id: tenantId,
    id: timeOrderedId(now),
    created_ms: now,
    method: call.method,
    path,
    outcome: callOutcomes[outcome] ?? 'failed',
    status: end.status,
    destination_status: call.destinationStatus,
    code: problem?.code,
    cause: causeOf(problem),
    application_id: call.applicationId,
    proxy_id: call.proxyId,
    reactor_id: call.reactorId,
    trace_id: call.traceId,
    decided_ms: since(call.decidedAt),
    asked_ms: since(call.askedAt),
    answered_ms: since(call.answeredAt),
    ended_ms: roundedMs(end.durationMs),
    request_bytes: storableSize(call.requestBytes),
    answer_bytes: storableSize(call.answerBytes),
    token_ids: call.tokenIds?.slice(0, callTokensMax).map(storable) ?? [],
    run_id: call.runId,
    request_run_id: call.requestRunId,
    response_run_id: call.responseRunId,
    count: 1,
  };
}

/** Of calls beyond all groups only their number and outcome are kept. */
export const restRowOf = (tenantId: string, { outcome, now }: Seen): Row => ({
  tenant_id: tenantId,
  id: timeOrderedId(now),
  created_ms: now,
  method: unknownPath,
  path: unknownPath,
  outcome: callOutcomes[outcome] ?? 'failed',
  token_ids: [],
  count: 1,
});

function causeOf(problem: Problem | undefined): unknown {
  const cause = problem?.body({ withCause: true }).cause;
  return cause && { ...cause, reason: storable(cause.reason) };
}

/** Postgres takes neither NUL nor half a surrogate pair, and would refuse the calls of everybody. */
const storable = (text: string): string =>
  Buffer.from(text.replaceAll('\0', '\ufffd'), 'utf8').toString('utf8');

/** A caller may declare more bytes than Postgres counts, and would spoil the rows of everybody. */
const storableSize = (bytes: number | undefined): number | undefined =>
  Number.isSafeInteger(bytes) ? bytes : undefined;

const roundedMs = (ms: number): number => Math.round(Math.max(ms, 0) * 100) / 100;

export function bytesOf({ tokenIds }: EndedCall): number {
  let bytes = rowBytes;
  for (const id of tokenIds?.slice(0, callTokensMax) ?? []) bytes += id.length + 8;
  return bytes;
}

export const insertStatement: PreparedStatement = {
  name: 'insert-calls',
  text: `
    INSERT INTO calls (tenant_id, id, method, path, outcome, status, destination_status, code, cause,
      application_id, proxy_id, reactor_id, trace_id, decided_ms, asked_ms, answered_ms, ended_ms,
      request_bytes, answer_bytes, token_ids, run_id, request_run_id, response_run_id, count,
      created_at)
    SELECT tenant_id, id, method, path, outcome, status, destination_status, code, cause,
      application_id, proxy_id, reactor_id, trace_id, decided_ms, asked_ms, answered_ms, ended_ms,
      request_bytes, answer_bytes, token_ids, run_id, request_run_id, response_run_id, count,
      to_timestamp(created_ms / 1000)
    FROM json_to_recordset($1::json) AS (tenant_id uuid, id uuid, method text, path text,
      outcome text, status smallint, destination_status smallint, code text, cause jsonb,
      application_id uuid, proxy_id uuid, reactor_id uuid, trace_id text, decided_ms real,
      asked_ms real, answered_ms real, ended_ms real, request_bytes bigint, answer_bytes bigint,
      token_ids text[], run_id uuid, request_run_id uuid, response_run_id uuid, count integer,
      created_ms float8)
    ON CONFLICT DO NOTHING`,
};
