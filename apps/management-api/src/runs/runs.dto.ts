import { invalid } from '@glovebox/problems';
import { queryReadBy } from '../http/request';
import { readCursorQuery, type CursorQuery } from '../lists/cursor';
import { QueryFilters } from '../lists/query-filters';
import type { WebhookAttempt } from '../deliveries/deliveries.dto';

export const runStatuses = ['pending', 'running', 'completed', 'failed'] as const;
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
}

interface RunResponse {
  id: string;
  kind: string;
  resource_id: string;
  application_id?: string;
  mode: string;
  status: string;
  outcome?: string;
  http_status?: number;
  argument_names?: string[];
  token_ids?: string[];
  trace_id: string;
  attempt: number;
  queued_ms?: number;
  duration_ms?: number;
  position?: { line: number; column: number };
  created_at: string;
  started_at?: string;
  ended_at?: string;
}

/** A run with what its code wrote, and with the webhook that reports it. */
export interface RunDetails extends RunResponse {
  lines: { at: string; level: string; text: string }[];
  webhook?: { status: string; attempts: WebhookAttempt[] };
}

export const RunListing = queryReadBy((query) =>
  readRunQuery(query, ['resource_id', 'status', 'kind', 'trace_id']),
);
/** The runs of one resource. */
export const OwnRunListing = queryReadBy((query) =>
  readRunQuery(query, ['status', 'kind', 'trace_id']),
);

const traceIdMax = 64;

function readRunQuery(query: URLSearchParams, names: readonly string[]): RunQuery {
  const errors: Record<string, string[]> = {};
  const filters = new QueryFilters(query, errors);
  const result = {
    ...readCursorQuery(query, errors, filters, (name) => names.includes(name)),
    resourceId: filters.uuid('resource_id'),
    status: filters.oneOf('status', runStatuses),
    kind: filters.oneOf('kind', runKinds),
    traceId: filters.text('trace_id', traceIdMax),
  };
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return result;
}

export function toRunResponse(row: RunRow): RunResponse {
  return {
    id: row.id,
    kind: row.kind,
    resource_id: row.resourceId,
    ...(row.applicationId === null ? {} : { application_id: row.applicationId }),
    mode: row.mode,
    status: row.status,
    ...(row.outcome === null ? {} : { outcome: row.outcome }),
    ...(row.httpStatus === null ? {} : { http_status: row.httpStatus }),
    ...(row.argumentNames === null ? {} : { argument_names: row.argumentNames }),
    ...(row.tokenIds === null ? {} : { token_ids: row.tokenIds }),
    trace_id: row.traceId,
    attempt: row.attempt,
    ...(row.queuedMs === null ? {} : { queued_ms: row.queuedMs }),
    ...(row.durationMs === null ? {} : { duration_ms: row.durationMs }),
    ...(row.position === null ? {} : { position: row.position }),
    created_at: row.createdAt.toISOString(),
    ...(row.startedAt === null ? {} : { started_at: row.startedAt.toISOString() }),
    ...(row.endedAt === null ? {} : { ended_at: row.endedAt.toISOString() }),
  };
}
