import type { PreparedStatement, Sql } from '@glovebox/database';
import type { Place, Sealer } from '@glovebox/seal';
import type { RunLogEntry } from './run-record';

/** A run that has ended, with its lines sealed. */
export interface EndedRun extends RunLogEntry {
  /** Milliseconds since 1970. An async run is accepted before it starts. */
  readonly createdAt: number;
  readonly sealedLines: Buffer | null;
}

/** The place that the lines of a run are bound to. */
export const linesPlace = (tenantId: string, record: string): Place => ({
  table: 'ended_runs',
  column: 'lines',
  tenantId,
  record,
});

export async function sealLines(
  sealer: Sealer,
  { tenantId, runId, record: { lines } }: RunLogEntry,
): Promise<Buffer | null> {
  if (lines.length === 0) return null;
  return sealer.seal(linesPlace(tenantId, runId), JSON.stringify(lines));
}

/** Characters that are kept of the name of an argument. */
const argumentNameMax = 200;
/** The largest number that a column for milliseconds takes: 24 days. */
const millisecondsMax = 2_147_483_647;

const insertStatement: PreparedStatement = {
  name: 'insert-ended-runs',
  text: `
    INSERT INTO ended_runs (tenant_id, id, kind, resource_id, application_id, mode, status,
      outcome, http_status, argument_names, token_ids, trace_id, attempt, queued_ms, duration_ms,
      position, lines, created_at, started_at, ended_at)
    SELECT tenant_id, id, kind, resource_id, application_id, mode, status, outcome, http_status,
      argument_names, token_ids, trace_id, attempt, queued_ms, duration_ms, position, lines,
      to_timestamp(created_ms / 1000), to_timestamp(started_ms / 1000),
      to_timestamp((started_ms + duration_ms) / 1000)
    FROM ROWS FROM (
      json_to_recordset($1::json) AS (tenant_id uuid, id uuid, kind text, resource_id uuid,
        application_id uuid, mode text, status text, outcome text, http_status smallint,
        argument_names text[], token_ids text[], trace_id text, attempt integer,
        queued_ms integer, duration_ms integer, position jsonb, created_ms float8,
        started_ms float8),
      unnest($2::bytea[])
    ) AS run (tenant_id, id, kind, resource_id, application_id, mode, status, outcome,
      http_status, argument_names, token_ids, trace_id, attempt, queued_ms, duration_ms, position,
      created_ms, started_ms, lines)
    ON CONFLICT DO NOTHING`,
};

/** Stores runs in one statement. One that is stored already is left as it is. */
export async function insertEndedRuns(sql: Sql, runs: readonly EndedRun[]): Promise<void> {
  const lines = runs.map(({ sealedLines }) => sealedLines);
  await sql.query(insertStatement, [JSON.stringify(runs.map(rowOf)), lines]);
}

function rowOf({ record, ...run }: EndedRun): Readonly<Record<string, unknown>> {
  return {
    tenant_id: run.tenantId,
    id: run.runId,
    kind: run.kind,
    resource_id: run.resourceId,
    application_id: run.applicationId,
    mode: run.mode,
    status: record.outcome === 'completed' ? 'completed' : 'failed',
    outcome: record.outcome,
    http_status: record.status,
    argument_names: record.argumentNames.map((name) => storable(name.slice(0, argumentNameMax))),
    token_ids: record.tokenIds.map(storable),
    trace_id: storable(run.traceId),
    attempt: run.attempt,
    queued_ms: milliseconds(record.queuedMs),
    duration_ms: milliseconds(record.durationMs),
    position: record.position ?? null,
    created_ms: run.createdAt,
    started_ms: record.startedAt,
  };
}

/** Postgres takes neither NUL nor half a surrogate pair, and would refuse the runs of everybody. */
const storable = (text: string): string =>
  Buffer.from(text.replaceAll('\0', '\ufffd'), 'utf8').toString('utf8');

const milliseconds = (ms: number): number => Math.min(Math.max(Math.round(ms), 0), millisecondsMax);
