import { timeOfId, timeOrderedId, type PreparedStatement, type Sql } from '@glovebox/database';
import { Problem, type ProblemCode } from '@glovebox/problems';
import type { CodeFrame, CodePlace, LogLine } from '@glovebox/sandbox';
import type { Place, Sealer } from '@glovebox/seal';
import { Counter, describeError, type Logger, type Registry } from '@glovebox/service-host';
import { Shares } from '@glovebox/shares';
import { codeIdOf } from './code-id';

/** All that is kept of a run. It holds names and ids, and texts without any value that is secret. */
export interface RunRecord {
  /** `cancelled`: nobody waited for the run any more. */
  readonly outcome: 'completed' | 'cancelled' | ProblemCode;
  /** The HTTP status of the answer; 499 where nobody waited for one. */
  readonly status: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** The part of the duration that the run waited for a process. */
  readonly queuedMs: number;
  /** Dotted names, at most 100. */
  readonly argumentNames: readonly string[];
  /** The tokens that the arguments used, at most 100. */
  readonly tokenIds: readonly string[];
  /** The output of `console`, redacted: at most 200 lines and 64 KB. */
  readonly lines: readonly LogLine[];
  /** SHA-256 of the code that ran. Absent where it is not known any more which would have. */
  readonly codeHash?: string;
  /** The place in the author's code where its error was made. */
  readonly position?: CodePlace;
  /** Why it failed, in words: at most 1,000 characters, redacted. */
  readonly message?: string;
  /** The calls in the author's code that its error came through, redacted: at most 20. */
  readonly stack?: readonly CodeFrame[];
}

/** What is sealed beside the lines, in the form in which it is stored. */
export type RunReason = Pick<RunRecord, 'message' | 'stack'>;

/** The record of a run whose code this worker did not start. */
export function recordWithoutCode(code: ProblemCode, problem = new Problem(code)): RunRecord {
  return {
    outcome: code,
    status: problem.status,
    message: problem.message,
    startedAt: Date.now(),
    durationMs: 0,
    queuedMs: 0,
    argumentNames: [],
    tokenIds: [],
    lines: [],
  };
}

export interface RunLogEntry {
  readonly runId: string;
  readonly tenantId: string;
  readonly kind: 'reactor' | 'transform';
  readonly resourceId: string;
  readonly traceId: string;
  /** The caller; null where it is anonymous. */
  readonly applicationId: string | null;
  readonly mode: 'sync' | 'async' | 'request' | 'response';
  /** Counts from 1. */
  readonly attempt: number;
  readonly record: RunRecord;
}

/** What is left of a run once what its code said is sealed. */
interface SealedTexts {
  readonly lines: Buffer | null;
  readonly reason: Buffer | null;
}

/** A run that has ended. */
interface EndedRun extends RunLogEntry {
  /** Milliseconds since 1970. An async run is accepted before it starts. */
  readonly createdAt: number;
  readonly sealed: SealedTexts;
}

/** The place that a text of a run is bound to. */
export const textPlace = (tenantId: string, record: string, column: keyof SealedTexts): Place => ({
  table: 'ended_runs',
  column,
  tenantId,
  record,
});

export async function sealTexts(
  sealer: Sealer,
  { tenantId, runId, record: { lines, message, stack } }: RunLogEntry,
): Promise<SealedTexts> {
  const seal = (column: keyof SealedTexts, value: unknown): Promise<Buffer> =>
    sealer.seal(textPlace(tenantId, runId, column), JSON.stringify(value));
  const [sealedLines, sealedReason] = await Promise.all([
    lines.length === 0 ? null : seal('lines', lines),
    message === undefined ? null : seal('reason', { message, stack }),
  ]);
  return { lines: sealedLines, reason: sealedReason };
}

export const noTexts: SealedTexts = { lines: null, reason: null };

/** Characters that are kept of the name of an argument. */
const argumentNameMax = 200;
/** The largest number that a column for milliseconds takes: 24 days. */
const millisecondsMax = 2_147_483_647;

/** Parameters: rows as JSON, sealed lines, sealed reasons. `nth` is the number of a row, from 1. */
export const insertionOfRuns = (
  rows: string,
  lines: string,
  reasons: string,
  where = '',
): string => `
  INSERT INTO ended_runs (tenant_id, id, kind, resource_id, application_id, mode, status,
    outcome, http_status, argument_names, token_ids, trace_id, attempt, queued_ms, duration_ms,
    position, code_id, lines, reason, created_at, started_at, ended_at)
  SELECT tenant_id, id, kind, resource_id, application_id, mode, status, outcome, http_status,
    argument_names, token_ids, trace_id, attempt, queued_ms, duration_ms, position, code_id, lines,
    reason, to_timestamp(created_ms / 1000), to_timestamp(started_ms / 1000),
    to_timestamp((started_ms + duration_ms) / 1000)
  FROM ROWS FROM (
    json_to_recordset(${rows}::json) AS (tenant_id uuid, id uuid, kind text, resource_id uuid,
      application_id uuid, mode text, status text, outcome text, http_status smallint,
      argument_names text[], token_ids text[], trace_id text, attempt integer,
      queued_ms integer, duration_ms integer, position jsonb, code_id uuid, created_ms float8,
      started_ms float8),
    unnest(${lines}::bytea[]),
    unnest(${reasons}::bytea[])
  ) WITH ORDINALITY AS run (tenant_id, id, kind, resource_id, application_id, mode, status, outcome,
    http_status, argument_names, token_ids, trace_id, attempt, queued_ms, duration_ms, position,
    code_id, created_ms, started_ms, lines, reason, nth)
  ${where}
  ON CONFLICT DO NOTHING`;

const insertStatement: PreparedStatement = {
  name: 'insert-ended-runs',
  text: insertionOfRuns('$1', '$2', '$3'),
};

/** Stores runs in one statement. One that is stored already is left as it is. */
export async function insertEndedRuns(sql: Sql, runs: readonly EndedRun[]): Promise<void> {
  const lines = runs.map(({ sealed }) => sealed.lines);
  const reasons = runs.map(({ sealed }) => sealed.reason);
  await sql.query(insertStatement, [JSON.stringify(runs.map(endedRunRow)), lines, reasons]);
}

/** All of a run but what is sealed. */
export function endedRunRow({
  record,
  ...run
}: Omit<EndedRun, 'sealed'>): Readonly<Record<string, unknown>> {
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
    code_id: codeIdOf(record.codeHash ?? ''),
    created_ms: run.createdAt,
    started_ms: record.startedAt,
  };
}

/** Postgres takes neither NUL nor half a surrogate pair, and would refuse the runs of everybody. */
const storable = (text: string): string =>
  Buffer.from(text.replaceAll('\0', '\ufffd'), 'utf8').toString('utf8');

const milliseconds = (ms: number): number => Math.min(Math.max(Math.round(ms), 0), millisecondsMax);

/** Bytes of runs that wait to be written. One tenant gets half of what the others leave. */
const waitingBytesMax = 16 * 1024 * 1024;
/** Runs of one statement. */
const batchMax = 100;
const flushMs = 250;
/** The part of a row that is the same for every run. */
const rowBytes = 500;

interface Waiting {
  readonly entry: RunLogEntry;
  /** The room that it takes in memory. */
  readonly bytes: number;
}

interface RunLogOptions {
  readonly sql: Sql;
  readonly sealer: Sealer;
  readonly registry: Registry;
  readonly logger: Pick<Logger, 'warn'>;
  readonly bytesMax?: number;
}

/**
 * Writes runs in batches, so that no call waits for the log. What waits is bounded: a tenant with
 * too many runs loses its own, and a store that is away costs runs of that time. Both are counted.
 */
export class RunLog {
  readonly #places: Shares;
  readonly #dropped: Counter<'reason'>;
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #stopping = false;

  constructor(private readonly options: RunLogOptions) {
    this.#places = new Shares({ places: options.bytesMax ?? waitingBytesMax });
    this.#dropped = new Counter({
      name: 'glovebox_run_log_dropped_total',
      help: 'Runs that are missing in the log; share: their tenant had too many, store: it was away',
      labelNames: ['reason'],
      registers: [options.registry],
    });
    for (const reason of ['share', 'store']) this.#dropped.inc({ reason }, 0);
  }

  /** Adds the record of a run that a caller waited for. Its id is as old as its start. */
  recorder(
    run: Omit<RunLogEntry, 'runId' | 'attempt' | 'record'>,
    runId = timeOrderedId(),
  ): (record: RunRecord) => void {
    return (record) => {
      const startedAt = timeOfId(runId) ?? record.startedAt;
      this.add({
        runId,
        tenantId: run.tenantId,
        kind: run.kind,
        resourceId: run.resourceId,
        traceId: run.traceId,
        applicationId: run.applicationId,
        mode: run.mode,
        attempt: 1,
        record: startedAt === record.startedAt ? record : { ...record, startedAt },
      });
    };
  }

  /** Never throws and never waits. */
  add(entry: RunLogEntry): void {
    const bytes = bytesOf(entry);
    if (!this.#places.hasRoom(entry.tenantId, bytes)) return this.#dropped.inc({ reason: 'share' });
    this.#places.enter(entry.tenantId, bytes);
    this.#waiting.push({ entry, bytes });
    if (this.#waiting.length >= batchMax) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), flushMs).unref();
  }

  /** Writes all that waits. With a store that is away, it is dropped. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#flush();
    while (this.#writing) await this.#writing;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, batchMax);
      const written = await this.#write(batch.map(({ entry }) => entry));
      this.#giveRoomBack(batch);
      if (!written && this.#stopping) this.#dropAll();
    }
  }

  /** False: the store is away. */
  async #write(entries: readonly RunLogEntry[]): Promise<boolean> {
    try {
      const ended = entries.map((entry) => (hasTexts(entry) ? this.#seal(entry) : bare(entry)));
      // Sealing alone needs promises.
      const isSealed = ended.every((run): run is EndedRun => !(run instanceof Promise));
      await insertEndedRuns(this.options.sql, isSealed ? ended : await Promise.all(ended));
      return true;
    } catch (error) {
      const isAway = error instanceof Problem && error.code === 'service_unavailable';
      // Something is wrong with one of them, which must not cost the others.
      if (!isAway && entries.length > 1) {
        for (const entry of entries) await this.#write([entry]);
        return true;
      }
      this.#dropped.inc({ reason: 'store' }, entries.length);
      this.options.logger.warn({ error: describeError(error) }, 'runs were not logged');
      return !isAway;
    }
  }

  async #seal(entry: RunLogEntry): Promise<EndedRun> {
    return endedRunOf(entry, await sealTexts(this.options.sealer, entry));
  }

  #giveRoomBack(waiting: readonly Waiting[]): void {
    for (const { entry, bytes } of waiting) this.#places.leave(entry.tenantId, bytes);
  }

  #dropAll(): void {
    this.#giveRoomBack(this.#waiting);
    this.#dropped.inc({ reason: 'store' }, this.#waiting.length);
    this.#waiting = [];
  }
}

const hasTexts = ({ record: { lines, message } }: RunLogEntry): boolean =>
  lines.length > 0 || message !== undefined;

const bare = (entry: RunLogEntry): EndedRun => endedRunOf(entry, noTexts);

const endedRunOf = (entry: RunLogEntry, sealed: SealedTexts): EndedRun => ({
  runId: entry.runId,
  tenantId: entry.tenantId,
  kind: entry.kind,
  resourceId: entry.resourceId,
  traceId: entry.traceId,
  applicationId: entry.applicationId,
  mode: entry.mode,
  attempt: entry.attempt,
  record: entry.record,
  createdAt: entry.record.startedAt,
  sealed,
});

function bytesOf({ record }: RunLogEntry): number {
  const { argumentNames, tokenIds, lines, message = '', stack } = record;
  let bytes = rowBytes + message.length + 50 * lines.length;
  for (const name of argumentNames) bytes += name.length;
  for (const id of tokenIds) bytes += id.length;
  for (const { text } of lines) bytes += text.length;
  for (const { function: name = '' } of stack ?? []) bytes += 50 + name.length;
  return bytes;
}
