import { timeOrderedId, type PreparedStatement, type Sql } from '@glovebox/database';
import { Problem } from '@glovebox/problems';
import { describeError, type Counter, type Logger } from '@glovebox/service-host';
import { Shares } from '@glovebox/shares';
import { callOutcomes, type CallOutcome } from './call-outcomes';

/** Upper bounds of the classes of durations, in milliseconds. The last class has none. */
export const latencyBoundsMs = [
  1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000,
] as const;

/** The calls of a minute, a resource and an outcome that are not written yet. */
interface Cell {
  /** Made with the cell: writing it again adds nothing. */
  readonly id: string;
  readonly tenantId: string;
  readonly minute: number;
  readonly path: string;
  readonly proxyId: string | undefined;
  readonly reactorId: string | undefined;
  readonly outcome: CallOutcome;
  calls: number;
  durationMs: number;
  readonly latencies: number[];
}

/** What calls are counted for: a path, and the proxy or reactor where there is one. */
export interface CountedResource {
  readonly tenantId: string;
  readonly path: string;
  readonly proxyId: string | undefined;
  readonly reactorId: string | undefined;
  /** The cell of each outcome, in their order. */
  readonly cells: (Cell | undefined)[];
}

export const minuteMs = 60_000;
/** Cells that wait to be written. One tenant gets half of what the others leave. */
const waitingCellsMax = 100_000;
/** Cells of one statement. */
const batchMax = 500;

const insertStatement: PreparedStatement = {
  name: 'insert-call-summary',
  text: `
    INSERT INTO call_summary (tenant_id, id, minute, path, proxy_id, reactor_id, outcome, calls,
      duration_ms, latencies, created_at)
    SELECT tenant_id, id, to_timestamp(minute / 1000), path, proxy_id, reactor_id, outcome, calls,
      duration_ms, latencies, now()
    FROM json_to_recordset($1::json) AS (tenant_id uuid, id uuid, minute float8, path text,
      proxy_id uuid, reactor_id uuid, outcome text, calls integer, duration_ms float8,
      latencies integer[])
    ON CONFLICT DO NOTHING`,
};

interface CallSummaryOptions {
  readonly sql: Sql;
  readonly logger: Pick<Logger, 'warn'>;
  /** Calls that are counted nowhere. */
  readonly dropped: Counter<'reason'>;
  readonly cellsMax?: number | undefined;
}

/**
 * Counts calls by minute, resource and outcome (docs/adr/0069). A cell is written once, with an id of
 * its own. A batch of which nobody knows whether it was stored is written again as it was, and
 * Postgres takes no cell twice. Calls that end meanwhile go into new cells.
 */
export class CallSummary {
  readonly #places: Shares;
  #open: Cell[] = [];
  #pending: Cell[] = [];
  /** Cells of a batch that was refused. Each is written by itself. */
  #apart = 0;

  constructor(private readonly options: CallSummaryOptions) {
    this.#places = new Shares({ places: options.cellsMax ?? waitingCellsMax });
  }

  get cells(): number {
    return this.#open.length + this.#pending.length;
  }

  /** Hot path: adds to numbers. */
  count(
    resource: CountedResource,
    outcome: number,
    { durationMs, minute }: { readonly durationMs: number; readonly minute: number },
  ): void {
    const known = resource.cells[outcome];
    const cell = known?.minute === minute ? known : this.#begin(resource, outcome, minute);
    if (!cell) return this.options.dropped.inc({ reason: 'share' });
    cell.calls += 1;
    cell.durationMs += durationMs;
    let at = 0;
    while (at < latencyBoundsMs.length && durationMs > (latencyBoundsMs[at] ?? 0)) at += 1;
    cell.latencies[at] = (cell.latencies[at] ?? 0) + 1;
  }

  /** Writes what waits, then what has been counted since. False: the store is away. */
  async write(takeOpen: () => void): Promise<boolean> {
    if (!(await this.#writePending())) return false;
    // Nothing is counted into a cell once it may have been stored.
    takeOpen();
    this.#pending = this.#open;
    this.#open = [];
    return this.#writePending();
  }

  dropAll(): void {
    for (const cell of [...this.#pending, ...this.#open]) this.#drop(cell);
    this.#pending = [];
    this.#open = [];
  }

  #begin(resource: CountedResource, outcome: number, minute: number): Cell | undefined {
    const { tenantId, path, proxyId, reactorId, cells } = resource;
    if (!this.#places.hasRoom(tenantId)) return undefined;
    this.#places.enter(tenantId);
    const cell: Cell = {
      id: timeOrderedId(minute),
      tenantId,
      minute,
      path,
      proxyId,
      reactorId,
      outcome: callOutcomes[outcome] ?? 'failed',
      calls: 0,
      durationMs: 0,
      latencies: new Array<number>(latencyBoundsMs.length + 1).fill(0),
    };
    cells[outcome] = cell;
    this.#open.push(cell);
    return cell;
  }

  async #writePending(): Promise<boolean> {
    while (this.#pending.length > 0) {
      const batch = this.#pending.slice(0, this.#apart > 0 ? 1 : batchMax);
      try {
        await this.options.sql.query(insertStatement, [JSON.stringify(batch.map(rowOf))]);
        for (const { tenantId } of batch) this.#places.leave(tenantId);
      } catch (error) {
        if (error instanceof Problem && error.code === 'service_unavailable') return false;
        if (batch.length > 1) {
          // Something is wrong with one of them, which must not cost the others.
          this.#apart = batch.length;
          continue;
        }
        this.options.logger.warn({ error: describeError(error) }, 'calls were not counted');
        for (const cell of batch) this.#drop(cell);
      }
      this.#pending.splice(0, batch.length);
      if (this.#apart > 0) this.#apart -= 1;
    }
    return true;
  }

  #drop({ tenantId, calls }: Cell): void {
    this.#places.leave(tenantId);
    this.options.dropped.inc({ reason: 'store' }, calls);
  }
}

const rowOf = (cell: Cell): Readonly<Record<string, unknown>> => ({
  tenant_id: cell.tenantId,
  id: cell.id,
  minute: cell.minute,
  path: cell.path,
  proxy_id: cell.proxyId,
  reactor_id: cell.reactorId,
  outcome: cell.outcome,
  calls: cell.calls,
  duration_ms: cell.durationMs,
  latencies: cell.latencies,
});
