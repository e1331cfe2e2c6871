import type { Sql } from '@glovebox/database';
import { Problem } from '@glovebox/problems';
import type { Sealer } from '@glovebox/seal';
import { Counter, describeError, type Logger, type Registry } from '@glovebox/service-host';
import { Shares, type Release } from '@glovebox/shares';
import { insertEndedRuns, sealLines, type EndedRun } from './ended-runs';
import type { RunLog, RunLogEntry } from './run-record';

/** Bytes of runs that wait to be written. One tenant gets half of what the others leave. */
const waitingBytesMax = 16 * 1024 * 1024;
/** Runs of one statement. */
const batchMax = 100;
const flushMs = 250;
/** The part of a row that is the same for every run. */
const rowBytes = 500;

interface Waiting {
  readonly entry: RunLogEntry;
  readonly release: Release;
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
export class BatchedRunLog implements RunLog {
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

  add(entry: RunLogEntry): void {
    const bytes = bytesOf(entry);
    if (!this.#places.hasRoom(entry.tenantId, bytes)) return this.#dropped.inc({ reason: 'share' });
    this.#waiting.push({ entry, release: this.#places.takeNow(entry.tenantId, bytes) });
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
      for (const { release } of batch) release();
      if (!written && this.#stopping) this.#dropAll();
    }
  }

  /** False: the store is away. */
  async #write(entries: readonly RunLogEntry[]): Promise<boolean> {
    try {
      const runs = await Promise.all(entries.map((entry) => this.#seal(entry)));
      await insertEndedRuns(this.options.sql, runs);
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
    const sealedLines = await sealLines(this.options.sealer, entry);
    return { ...entry, createdAt: entry.record.startedAt, sealedLines };
  }

  #dropAll(): void {
    for (const { release } of this.#waiting) release();
    this.#dropped.inc({ reason: 'store' }, this.#waiting.length);
    this.#waiting = [];
  }
}

function bytesOf({ record: { argumentNames, tokenIds, lines } }: RunLogEntry): number {
  const texts = [...argumentNames, ...tokenIds, ...lines.map(({ text }) => text)];
  return texts.reduce((bytes, text) => bytes + text.length, rowBytes + 50 * lines.length);
}
