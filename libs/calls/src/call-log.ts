import type { Sql } from '@glovebox/database';
import { Problem, type Failure } from '@glovebox/problems';
import { Counter, describeError, Gauge, type Logger, type Registry } from '@glovebox/service-host';
import { Shares } from '@glovebox/shares';
import { callOutcomes, outcomeOf } from './call-outcomes';
import {
  addAlike,
  bytesOf,
  insertStatement,
  restRowOf,
  rowBytes,
  rowOf,
  type EndedCall,
  type EndOfCall,
  type Row,
  type Seen,
} from './call-row';
import { CallSummary, minuteMs, type CountedResource } from './call-summary';

/** Calls of one tenant and second that have rows of their own, in one process. */
export const failedCallsPerSecond = 200;
export const otherCallsPerSecond = 50;
/** Rows for the further calls of a second: each stands for those that are alike. */
const groupsMax = 100;

/** Bytes of rows that wait to be written. One tenant gets half of what the others leave. */
const waitingBytesMax = 16 * 1024 * 1024;
/** Rows of one statement. */
const batchMax = 200;
const flushMs = 250;
const countedMs = 10_000;

interface Waiting {
  readonly row: Row;
  /** The room that the row takes in memory. */
  readonly bytes: number;
}

/** One row that stands for calls which are alike. */
interface Group extends Waiting {
  readonly second: number;
  readonly outcome: number;
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly failure: Failure | undefined;
  /** Its row is on its way to the store, and counts no more. */
  isClosed: boolean;
}

interface Resource extends CountedResource {
  readonly groups: Group[];
}

/** The calls of a tenant in the current second. */
interface Tenant {
  second: number;
  failed: number;
  others: number;
  groups: number;
  /** Stands for the calls beyond all groups, by outcome. */
  readonly rest: (Group | undefined)[];
  readonly resources: Map<string, Resource>;
}

interface CallLogOptions {
  readonly sql: Sql;
  readonly registry: Registry;
  readonly logger: Pick<Logger, 'warn'>;
  /** Specs replace these. */
  readonly bytesMax?: number;
  readonly cellsMax?: number;
  readonly countedMs?: number;
  readonly clock?: () => number;
}

/**
 * Writes calls in batches, so that no call waits for the log (docs/adr/0068). Every call is counted in
 * the summary. Failed calls up to 200 and others up to 50 a second and tenant have a row each; the
 * further ones share rows by what they have in common. Hot path: `add` changes numbers, and makes
 * an object only for a row.
 */
export class CallLog {
  readonly #places: Shares;
  readonly #clock: () => number;
  readonly #dropped: Counter<'reason'>;
  readonly #strangers: Counter;
  readonly #summary: CallSummary;
  readonly #tenants = new Map<string, Tenant>();
  #groups: Group[] = [];
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #countedUntil = 0;
  #stopping = false;

  constructor(private readonly options: CallLogOptions) {
    this.#places = new Shares({ places: options.bytesMax ?? waitingBytesMax });
    this.#clock = options.clock ?? Date.now;
    const registers = [options.registry];
    const counter = (name: string, help: string): Counter<'reason'> => {
      const made = new Counter({ name, help, labelNames: ['reason'] as const, registers });
      for (const reason of ['share', 'store']) made.inc({ reason }, 0);
      return made;
    };
    this.#dropped = counter(
      'glovebox_call_log_dropped_total',
      'Rows that are missing in the log of calls; share: their tenant had too many, store: it was away',
    );
    this.#strangers = new Counter({
      name: 'glovebox_call_log_strangers_total',
      help: 'Calls that are in no log, because no valid key told whose they were',
      registers,
    });
    const { sql, logger, cellsMax } = options;
    const dropped = counter(
      'glovebox_call_log_uncounted_total',
      'Calls that are missing in the summary; share: their tenant had too many cells, store: it refused them',
    );
    const summary = new CallSummary({ sql, logger, dropped, cellsMax });
    this.#summary = summary;
    new Gauge({
      name: 'glovebox_call_log_cells',
      help: 'Cells of the summary that wait to be written',
      registers,
      collect() {
        this.set(summary.cells);
      },
    });
  }

  /** Never throws and never waits. `path` is the template of the operation. Hot path. */
  add(path: string, call: EndedCall, end: EndOfCall): void {
    const { tenantId, destinationStatus, problem } = call;
    if (tenantId === undefined) return this.#strangers.inc();
    const now = this.#clock();
    const { status, left, durationMs } = end;
    const outcome = callOutcomes.indexOf(outcomeOf({ status, left, destinationStatus, problem }));
    const tenant = this.#tenants.get(tenantId) ?? this.#beginTenant(tenantId);
    const resource = resourceOf(tenant, path, tenantId, call);
    const minute = now - (now % minuteMs);
    this.#summary.count(resource, outcome, { durationMs, minute });
    const second = Math.floor(now / 1_000);
    if (tenant.second !== second) beginSecond(tenant, second);
    this.#timer ??= setTimeout(() => this.#flush(), flushMs).unref();
    const isOwnRow =
      outcome === 0
        ? (tenant.others += 1) <= otherCallsPerSecond
        : (tenant.failed += 1) <= failedCallsPerSecond;
    if (!isOwnRow) return this.#addToGroup(tenant, resource, { call, end, outcome, now });
    const bytes = bytesOf(call);
    if (!this.#takeRoom(tenantId, bytes)) return;
    this.#waiting.push({ row: rowOf(path, tenantId, { call, end, outcome, now }), bytes });
    if (this.#waiting.length >= batchMax && !this.#writing) this.#flush();
  }

  /** Writes all that waits. With a store that is away, it is dropped. */
  async stop(): Promise<void> {
    this.#stopping = true;
    while (this.#writing) await this.#writing;
    this.#flush();
    while (this.#writing) await this.#writing;
  }

  #beginTenant(tenantId: string): Tenant {
    const made: Tenant = {
      second: 0,
      failed: 0,
      others: 0,
      groups: 0,
      rest: [],
      resources: new Map(),
    };
    this.#tenants.set(tenantId, made);
    return made;
  }

  #addToGroup(tenant: Tenant, resource: Resource, seen: Seen): void {
    const { call, end, outcome } = seen;
    const { tenantId, path, groups } = resource;
    const { second } = tenant;
    if (groups[0] && groups[0].second !== second) groups.length = 0;
    const known = groups.find((group) => isAlike(group, seen));
    if (known) return addAlike(known.row, call);
    const isRest = tenant.groups >= groupsMax;
    const rest = isRest ? tenant.rest[outcome] : undefined;
    if (rest && !rest.isClosed) return void (rest.row.count += 1);
    const bytes = isRest ? rowBytes : bytesOf(call);
    if (!this.#takeRoom(tenantId, bytes)) return;
    const row = isRest ? restRowOf(tenantId, seen) : rowOf(path, tenantId, seen);
    const { code, failure } = call.problem ?? {};
    const { status } = end;
    const group = { row, bytes, second, outcome, status, code, failure, isClosed: false };
    this.#groups.push(group);
    if (isRest) return void (tenant.rest[outcome] = group);
    tenant.groups += 1;
    groups.push(group);
  }

  #takeRoom(tenantId: string, bytes: number): boolean {
    const hasRoom = this.#places.hasRoom(tenantId, bytes);
    if (hasRoom) this.#places.enter(tenantId, bytes);
    else this.#dropped.inc({ reason: 'share' });
    return hasRoom;
  }

  #giveRoomBack(rows: readonly Waiting[]): void {
    for (const { row, bytes } of rows) this.#places.leave(row.tenant_id, bytes);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
      const left = this.#waiting.length + this.#groups.length + this.#summary.cells;
      if (left > 0 && !this.#stopping) {
        const pauseMs = this.#waiting.length < batchMax ? flushMs : 0;
        this.#timer ??= setTimeout(() => this.#flush(), pauseMs).unref();
      }
    });
  }

  async #writeAll(): Promise<void> {
    this.#closeGroups(Math.floor(this.#clock() / 1_000));
    // Calls that end meanwhile wait for the next time. Else the counts might never have their turn.
    const due = this.#waiting;
    this.#waiting = [];
    for (let at = 0; at < due.length; at += batchMax) {
      const written = await this.#write(due.slice(at, at + batchMax));
      if (!written && this.#stopping) this.#drop(due.splice(at + batchMax));
    }
    await this.#writeCounts();
  }

  /** The groups of seconds that are over have all their calls. */
  #closeGroups(second: number): void {
    const open: Group[] = [];
    for (const group of this.#groups) {
      group.isClosed = group.second !== second || this.#stopping;
      (group.isClosed ? this.#waiting : open).push(group);
    }
    this.#groups = open;
  }

  async #writeCounts(): Promise<void> {
    if (performance.now() < this.#countedUntil && !this.#stopping) return;
    const written = await this.#summary.write(() => this.#leaveCells());
    const { countedMs: everyMs = countedMs } = this.options;
    this.#countedUntil = written ? performance.now() + everyMs : 0;
    if (!written && this.#stopping) this.#summary.dropAll();
  }

  /** The next calls count in new cells. What has had no call in this second is forgotten. */
  #leaveCells(): void {
    const second = Math.floor(this.#clock() / 1_000);
    for (const [id, tenant] of this.#tenants) {
      if (tenant.second !== second) this.#tenants.delete(id);
      for (const [key, { cells, groups }] of tenant.resources) {
        cells.length = 0;
        if (groups[0]?.second !== second) tenant.resources.delete(key);
      }
    }
  }

  /** False: the store is away. */
  async #write(batch: readonly Waiting[]): Promise<boolean> {
    let isAway = false;
    try {
      const rows = JSON.stringify(batch.map(({ row }) => row));
      await this.options.sql.query(insertStatement, [rows]);
    } catch (error) {
      isAway = error instanceof Problem && error.code === 'service_unavailable';
      if (!isAway && batch.length > 1) {
        // Something is wrong with one of them, which must not cost the others.
        for (const one of batch) await this.#write([one]);
        return true;
      }
      this.#dropped.inc({ reason: 'store' }, batch.length);
      this.options.logger.warn({ error: describeError(error) }, 'calls were not logged');
    }
    this.#giveRoomBack(batch);
    return !isAway;
  }

  #drop(rows: readonly Waiting[]): void {
    this.#giveRoomBack(rows);
    this.#dropped.inc({ reason: 'store' }, rows.length);
  }
}

function resourceOf(tenant: Tenant, path: string, tenantId: string, call: EndedCall): Resource {
  const { proxyId, reactorId } = call;
  const key = proxyId ?? reactorId ?? path;
  const known = tenant.resources.get(key);
  if (known) return known;
  const made: Resource = { tenantId, path, proxyId, reactorId, cells: [], groups: [] };
  tenant.resources.set(key, made);
  return made;
}

function beginSecond(tenant: Tenant, second: number): void {
  tenant.second = second;
  tenant.failed = 0;
  tenant.others = 0;
  tenant.groups = 0;
  tenant.rest.length = 0;
}

const isAlike = (group: Group, { call: { problem }, end, outcome }: Seen): boolean =>
  !group.isClosed &&
  group.outcome === outcome &&
  group.status === end.status &&
  group.code === problem?.code &&
  group.failure?.phase === problem?.failure?.phase &&
  group.failure?.reason === problem?.failure?.reason;
