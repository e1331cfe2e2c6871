import {
  callOutcomes,
  latencyBoundsMs,
  type CallQuery,
  type CallRow,
  type SummaryQuery,
  type SummaryRow,
} from '@glovebox/calls';
import { invalid } from '@glovebox/problems';
import { queryReadBy } from '../http/request';
import { readCursorQuery } from '../lists/cursor';
import { requireKnown } from '../lists/listing';
import { QueryFilters } from '../lists/query-filters';
import { traceIdMax } from '../runs/runs.dto';

export interface CallResponse {
  id: string;
  method: string;
  path: string;
  outcome: string;
  status?: number;
  destination_status?: number;
  code?: string;
  cause?: Record<string, unknown>;
  application_id?: string;
  proxy_id?: string;
  reactor_id?: string;
  trace_id?: string;
  started_at?: string;
  ended_at: string;
  phases?: { decided_ms?: number; asked_ms?: number; answered_ms?: number; ended_ms: number };
  request_bytes?: number;
  answer_bytes?: number;
  token_ids: string[];
  run_id?: string;
  transforms?: { request?: string; response?: string };
  count: number;
  sampled?: true;
}

interface SummaryEntry {
  minute: string;
  resource: string;
  proxy_id?: string;
  reactor_id?: string;
  outcome: string;
  calls: number;
  duration_ms: number;
  latencies: number[];
}

export interface CallSummaryResponse {
  from: string;
  to: string;
  latency_bounds_ms: readonly number[];
  truncated?: true;
  data: SummaryEntry[];
}

const pathMax = 200;
const codeMax = 64;
const callFilters = [
  'proxy_id',
  'reactor_id',
  'application_id',
  'status',
  'code',
  'outcome',
  'trace_id',
] as const;
const summaryFilters = ['from', 'to', 'proxy_id', 'reactor_id', 'resource', 'outcome'];

export const CallListing = queryReadBy((query): CallQuery => {
  const errors: Record<string, string[]> = {};
  const filters = new QueryFilters(query, errors);
  const known: readonly string[] = callFilters;
  const result = {
    ...readCursorQuery(query, errors, filters, known),
    proxyId: filters.uuid('proxy_id'),
    reactorId: filters.uuid('reactor_id'),
    applicationId: filters.uuid('application_id'),
    status: filters.status('status'),
    code: filters.text('code', codeMax),
    outcomes: filters.someOf('outcome', callOutcomes),
    traceId: filters.text('trace_id', traceIdMax),
  };
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return result;
});

const hourMs = 60 * 60 * 1_000;
const minuteMs = 60 * 1_000;
export const summaryHoursMax = 24;

/** Whole minutes, the last hour by default. */
export const SummaryListing = queryReadBy((query): SummaryQuery => {
  requireKnown(query, summaryFilters);
  const errors: Record<string, string[]> = {};
  const filters = new QueryFilters(query, errors);
  const to = filters.instant('to') ?? new Date();
  const from = filters.instant('from') ?? new Date(to.getTime() - hourMs);
  if (from > to) errors.from = ['must not be after `to`'];
  else if (to.getTime() - from.getTime() > summaryHoursMax * hourMs) {
    errors.from = [`must be at most ${summaryHoursMax} hours before \`to\``];
  }
  const result = {
    from: new Date(from.getTime() - (from.getTime() % minuteMs)),
    to,
    proxyId: filters.uuid('proxy_id'),
    reactorId: filters.uuid('reactor_id'),
    resource: filters.text('resource', pathMax),
    outcome: filters.oneOf('outcome', callOutcomes),
  };
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return result;
});

export function toCallResponse(row: CallRow): CallResponse {
  const { endedMs, createdAt, count } = row;
  const transforms = {
    ...given('request', row.requestRunId),
    ...given('response', row.responseRunId),
  };
  return {
    id: row.id,
    method: row.method,
    path: row.path,
    outcome: row.outcome,
    ...given('status', row.status),
    ...given('destination_status', row.destinationStatus),
    ...given('code', row.code),
    ...given('cause', row.cause),
    ...given('application_id', row.applicationId),
    ...given('proxy_id', row.proxyId),
    ...given('reactor_id', row.reactorId),
    ...given('trace_id', row.traceId),
    ...(endedMs === null
      ? {}
      : { started_at: new Date(createdAt.getTime() - endedMs).toISOString() }),
    ended_at: createdAt.toISOString(),
    ...(endedMs === null ? {} : { phases: phasesOf(row, endedMs) }),
    ...given('request_bytes', row.requestBytes),
    ...given('answer_bytes', row.answerBytes),
    token_ids: row.tokenIds,
    ...given('run_id', row.runId),
    ...(Object.keys(transforms).length === 0 ? {} : { transforms }),
    count,
    ...(count > 1 ? { sampled: true } : {}),
  };
}

const phasesOf = ({ decidedMs, askedMs, answeredMs }: CallRow, endedMs: number) => ({
  ...given('decided_ms', decidedMs),
  ...given('asked_ms', askedMs),
  ...given('answered_ms', answeredMs),
  ended_ms: endedMs,
});

export const given = <Name extends string, Value>(
  name: Name,
  value: Value | null,
): { [Key in Name]?: Value } =>
  (value === null ? {} : { [name]: value }) as { [Key in Name]?: Value };

/** Leaves out a minute of which there is only a part. */
export function toSummaryResponse(
  rows: readonly SummaryRow[],
  { from, to }: SummaryQuery,
  entriesMax: number,
): CallSummaryResponse {
  const cut = rows.length > entriesMax ? rows[entriesMax]?.minute.getTime() : undefined;
  const whole = rows.filter(({ minute }) => minute.getTime() !== cut);
  const shown = whole.length > 0 ? whole : rows.slice(0, entriesMax);
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    latency_bounds_ms: latencyBoundsMs,
    ...(cut === undefined ? {} : { truncated: true }),
    data: shown.map((row) => ({
      minute: row.minute.toISOString(),
      resource: row.path,
      ...given('proxy_id', row.proxyId),
      ...given('reactor_id', row.reactorId),
      outcome: row.outcome,
      calls: row.calls,
      duration_ms: Math.round(row.durationMs * 100) / 100,
      latencies: row.latencies,
    })),
  };
}
