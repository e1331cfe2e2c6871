import { setTimeout as sleep } from 'node:timers/promises';
import type { Glovebox } from '@glovebox/client';
import type { Context } from '../context';
import { usage } from '../failure';
import { callable, findByName, type Found } from '../find-by-name';
import { plain } from '../terminal';

interface LogsOptions {
  readonly follow?: boolean;
  readonly only?: string;
  readonly failed?: boolean;
  readonly name?: string;
  readonly traceId?: string;
  readonly since: string;
}

interface Entry {
  readonly id: string;
  readonly [member: string]: unknown;
}

type Kind = 'calls' | 'runs';
type Query = Readonly<Record<string, string>>;

const pauseMs = 1_000;
/**
 * Lines are written up to this long after the time that orders them. A run is ordered by its begin,
 * and may take 210 s.
 */
const lateMs: Readonly<Record<Kind, number>> = { calls: 15_000, runs: 240_000 };
/** A look back over all of that is made less often than one at the newest. */
const lookBackMs: Readonly<Record<Kind, number>> = { calls: 5_000, runs: 15_000 };
/** Runs that wait for longer than a look back are asked for by themselves, so many at a time. */
const askedAtOnce = 50;

/** Calls and runs, the oldest first. With --follow, each is shown once, however late it comes. */
export async function logs(context: Context, options: LogsOptions): Promise<void> {
  const { terminal, signal } = context;
  const { only, follow, name, traceId } = options;
  if (only !== undefined && only !== 'calls' && only !== 'runs') {
    throw usage('--only is calls or runs.');
  }
  const minutes = Number(options.since);
  if (!(minutes >= 0 && minutes <= 60 * 24 * 30)) throw usage('--since is a number of minutes.');
  const api = context.api();
  const found = name === undefined ? undefined : await findByName(api, name, callable);
  const logs = ofKinds(only).map((kind) => new Log(api, kind, queryOf(kind, found, traceId)));
  const asking = Promise.all(logs.map((log) => log.clock()));
  const clocks = await terminal.progress('reading the log', asking);
  const sources = logs.map((log, nth) => new Source(log, (clocks[nth] ?? 0) - minutes * 60_000));
  for (;;) {
    const reading = Promise.all(sources.map((source) => source.fresh())).catch((error: unknown) => {
      // An interruption is how a reader of the newest lines ends.
      if (follow && signal.aborted) return [];
      throw error;
    });
    const fresh = (await terminal.progress('reading the log', reading)).flat();
    const shown = options.failed ? fresh.filter(({ entry }) => hasFailed(entry)) : fresh;
    for (const line of shown.sort((a, b) => (a.at < b.at ? -1 : 1))) {
      terminal.result({ log: line.kind, ...line.entry }, () => wordsOf(line, context));
    }
    if (!follow) return;
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
  }
}

const ofKinds = (only: Kind | undefined): readonly Kind[] => (only ? [only] : ['calls', 'runs']);

function queryOf(kind: Kind, found: Found | undefined, traceId: string | undefined): Query {
  const ofTrace = traceId === undefined ? {} : { trace_id: traceId };
  if (!found) return ofTrace;
  const member = kind === 'runs' ? 'resource_id' : `${found.kind}_id`;
  return { ...ofTrace, [member]: found.id };
}

const hasFailed = ({ outcome, status }: Entry): boolean =>
  outcome === 'failed' || outcome === 'destination_error' || status === 'failed';

interface Line {
  readonly kind: Kind;
  readonly at: string;
  readonly entry: Entry;
}

interface Part {
  readonly entries: readonly Entry[];
  readonly after: string | undefined;
  /** When it was answered. Lines are ordered by the clock of Glovebox, which may not be that of here. */
  readonly at: number;
}

/** One list of the API, the newest first. */
class Log {
  constructor(
    private readonly api: Glovebox,
    readonly kind: Kind,
    private readonly query: Query,
  ) {}

  async clock(): Promise<number> {
    return (await this.part({ from: timeIn(Date.now()), size: 1 })).at;
  }

  async part(query: object): Promise<Part> {
    const asked = { params: { query: { ...this.query, ...query } } };
    const { data: page, response } = await this.api.api.GET(`/${this.kind}`, asked);
    const at = Date.parse(response.headers.get('date') ?? '');
    return {
      entries: (page?.data ?? []) as readonly Entry[],
      after: page?.pagination.after,
      at: Number.isNaN(at) ? Date.now() : at,
    };
  }
}

const timeIn = (ms: number): string => new Date(ms).toISOString();

/** A log, read from the newest back to what can still change. */
class Source {
  /** When each entry that may come again was shown. */
  readonly #shown = new Map<string, number>();
  /** Runs that had not ended when they were seen, and when they were accepted. */
  readonly #waiting = new Map<string, number>();
  #lookedBackAt: number | undefined;
  #now: number;

  constructor(
    private readonly log: Log,
    private readonly since: number,
  ) {
    this.#now = since;
  }

  /** What was not shown yet. A run is shown when it has ended. */
  async fresh(): Promise<Line[]> {
    const { kind } = this.log;
    const { [kind]: late } = lateMs;
    const lookedBackAt = this.#lookedBackAt;
    const isLookBack = lookedBackAt === undefined || this.#now - lookedBackAt >= lookBackMs[kind];
    // Back to what the last look back can have missed, however long ago that was.
    const from = lookedBackAt === undefined ? this.since : this.#horizon(lookedBackAt);
    const lines: Line[] = [];
    let begun: number | undefined;
    let isKnown = false;
    for (let after: string | undefined; !isKnown;) {
      const part = await this.log.part({ from: timeIn(from), size: 100, ...(after && { after }) });
      begun ??= part.at;
      const fresh = this.#take(part);
      lines.push(...fresh);
      after = part.after;
      // Between two looks back, a part without news ends the reading.
      isKnown = after === undefined || (!isLookBack && fresh.length === 0);
    }
    this.#now = begun ?? this.#now;
    if (!isLookBack) return lines;
    this.#lookedBackAt = this.#now;
    lines.push(...(await this.#waited(from)));
    for (const [id, at] of this.#shown) {
      if (at < this.#horizon(this.#now) - late) this.#shown.delete(id);
    }
    return lines;
  }

  #horizon(lookedBackAt: number): number {
    return Math.max(this.since, lookedBackAt - 2 * lateMs[this.log.kind]);
  }

  #take({ entries, at }: Omit<Part, 'after'>): Line[] {
    const { kind } = this.log;
    const lines: Line[] = [];
    for (const entry of entries) {
      const { id, created_at: accepted } = entry;
      if (this.#shown.has(id)) continue;
      this.#waiting.delete(id);
      if (hasEnded(entry, kind)) {
        this.#shown.set(id, at);
        lines.push({ kind, at: timeOf(entry, kind), entry });
      } else {
        this.#waiting.set(id, Date.parse(String(accepted)));
      }
    }
    return lines;
  }

  /** Those of the runs before the horizon that have ended. Others come to their turn at the next look. */
  async #waited(horizon: number): Promise<Line[]> {
    const before = [...this.#waiting].filter(([, accepted]) => accepted < horizon);
    const lines: Line[] = [];
    for (const [id, accepted] of before.slice(0, askedAtOnce)) {
      const window = { from: timeIn(accepted), to: timeIn(accepted + 1), size: 100 };
      const { entries, at } = await this.log.part(window);
      const own = entries.filter((entry) => entry.id === id);
      if (own.length === 0) this.#waiting.delete(id);
      lines.push(...this.#take({ entries: own, at }));
    }
    return lines;
  }
}

const hasEnded = ({ status }: Entry, kind: Kind): boolean =>
  kind === 'calls' || status === 'completed' || status === 'failed';

const timeOf = ({ ended_at: ended, created_at: created }: Entry, kind: Kind): string =>
  String(kind === 'runs' ? (ended ?? created) : ended);

function wordsOf({ kind, at, entry }: Line, { terminal }: Context): string {
  const isFailed = hasFailed(entry);
  const mark = isFailed ? terminal.paint('red', '✗') : terminal.paint('green', '✓');
  const time = terminal.paint('dim', at.slice(0, 23));
  const { trace_id: trace, count } = entry;
  const what =
    kind === 'calls'
      ? [entry.method, entry.path, entry.status ?? '-', entry.code ?? entry.outcome]
      : ['run', entry.kind, entry.mode, entry.http_status ?? '-', entry.outcome, entry.id];
  const ms = kind === 'calls' ? msOfCall(entry) : entry.duration_ms;
  const more = [
    ...(ms === undefined ? [] : [`${String(ms)} ms`]),
    ...(Number(count ?? 1) > 1 ? [`×${String(count)}`] : []),
    ...(trace === undefined ? [] : [`trace ${String(trace)}`]),
  ];
  const words = what.filter((word) => word !== undefined).map(String);
  return `${time} ${mark} ${plain(words.join(' '))} ${terminal.paint('dim', plain(more.join(', ')))}`;
}

function msOfCall({ phases }: Entry): unknown {
  return (phases as { ended_ms?: number } | undefined)?.ended_ms;
}
