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
  const since = Date.now() - minutes * 60_000;
  const sources = ofKinds(only).map(
    (kind) => new Source(api, kind, queryOf(kind, found, traceId), since),
  );
  for (;;) {
    const reading = Promise.all(sources.map((source) => source.fresh()));
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

/** One log, read from the newest back to what can still change. */
class Source {
  /** When each entry that may come again was shown, or that it has not ended. */
  readonly #shown = new Map<string, number>();
  #lookedBackAt = 0;

  constructor(
    private readonly api: Glovebox,
    private readonly kind: Kind,
    private readonly query: Query,
    private readonly since: number,
  ) {}

  /** What was not shown yet. A run is shown when it has ended. */
  async fresh(): Promise<Line[]> {
    const now = Date.now();
    const isFirst = this.#lookedBackAt === 0;
    const isLookBack = now - this.#lookedBackAt >= lookBackMs[this.kind];
    if (isLookBack) this.#lookedBackAt = now;
    const horizon = Math.max(this.since, isFirst ? 0 : now - 2 * lateMs[this.kind]);
    const lines: Line[] = [];
    let isKnown = false;
    for (let after: string | undefined; !isKnown;) {
      const from = new Date(horizon).toISOString();
      const query = { ...this.query, from, size: 100, ...(after && { after }) };
      const page = await this.api.get(`/${this.kind}`, { params: { query } });
      let fresh = 0;
      for (const entry of page.data as readonly Entry[]) {
        const has = hasEnded(entry, this.kind);
        if (!has || this.#shown.has(entry.id)) continue;
        this.#shown.set(entry.id, now);
        lines.push({ kind: this.kind, at: timeOf(entry, this.kind), entry });
        fresh += 1;
      }
      after = page.pagination.after;
      // Between two looks back, a part without news ends the reading.
      isKnown = after === undefined || (!isLookBack && fresh === 0);
    }
    for (const [id, at] of this.#shown) {
      if (now - at > 4 * lateMs[this.kind]) this.#shown.delete(id);
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
