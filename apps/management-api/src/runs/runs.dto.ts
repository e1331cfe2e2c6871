import { IsBoolean, IsOptional } from 'class-validator';
import { invalid } from '@glovebox/problems';
import { runKinds, runStatuses, type RunQuery, type RunReason, type RunRow } from '@glovebox/runs';
import type { CodeFrame, LogLine } from '@glovebox/sandbox';
import type { SourcePlace } from '../code/source-places';
import { queryReadBy } from '../http/request';
import { readCursorQuery } from '../lists/cursor';
import { QueryFilters } from '../lists/query-filters';
import type { WebhookAttempt } from '../deliveries/deliveries.dto';
import type { CodeOfRun } from './code-of-run';

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
  position?: SourcePlace;
  created_at: string;
  started_at?: string;
  ended_at?: string;
  arguments_kept_until?: string;
  rerun_of?: string;
}

/** A run with what its code wrote, why it failed, and with the webhook that reports it. */
export interface RunDetails extends RunResponse, CodeOfRun {
  message?: string;
  stack?: readonly CodeFrame[];
  lines: { at: string; level: string; text: string }[];
  webhook?: { status: string; attempts: WebhookAttempt[] };
}

export class RerunInput {
  /** Sends the result to where that of the run went. */
  @IsOptional()
  @IsBoolean()
  callback?: boolean;
}

/** A run that was accepted, and what happens again with it. */
export interface RerunResponse {
  async_request_id: string;
  /** The spelling of existing clients. */
  asyncReactorRequestId: string;
  again: {
    reactor_id: string;
    token_ids: string[];
    callback_host?: string;
    says: string[];
  };
}

export const RunListing = queryReadBy((query) =>
  readRunQuery(query, ['resource_id', 'status', 'kind', 'trace_id']),
);
/** The runs of one resource. */
export const OwnRunListing = queryReadBy((query) =>
  readRunQuery(query, ['status', 'kind', 'trace_id']),
);

export const traceIdMax = 64;

function readRunQuery(query: URLSearchParams, names: readonly string[]): RunQuery {
  const errors: Record<string, string[]> = {};
  const filters = new QueryFilters(query, errors);
  const result = {
    ...readCursorQuery(query, errors, filters, names),
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
    ...(row.rerunOf === null ? {} : { rerun_of: row.rerunOf }),
    ...(row.argumentsKeptUntil === null
      ? {}
      : { arguments_kept_until: row.argumentsKeptUntil.toISOString() }),
  };
}

export function toRunDetails(
  row: RunRow,
  {
    lines,
    message,
    stack,
    webhook,
    code,
  }: RunReason & {
    readonly lines: readonly LogLine[];
    readonly webhook: RunDetails['webhook'];
    readonly code: CodeOfRun;
  },
): RunDetails {
  return {
    ...toRunResponse(row),
    ...code,
    ...(message === undefined ? {} : { message }),
    ...(stack === undefined ? {} : { stack: stack.map(toFrame) }),
    lines: lines.map(({ at, level, text }) => ({ at: new Date(at).toISOString(), level, text })),
    ...(webhook ? { webhook } : {}),
  };
}

const toFrame = ({
  function: name,
  line,
  column,
  source,
}: CodeFrame & SourcePlace): CodeFrame & SourcePlace => ({
  ...(name === undefined ? {} : { function: name }),
  line,
  column,
  ...(source === undefined ? {} : { source }),
});
