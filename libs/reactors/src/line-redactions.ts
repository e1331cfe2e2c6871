import { inSlices, nextSlice, type Work } from '@glovebox/expressions';
import { linesDropped, type LogLine } from '@glovebox/sandbox';
import { Shares } from '@glovebox/shares';
import { redacted, redactorOf, type KnownToRun } from './redact';

/** An ended run with texts that may show what it knew. */
interface Written {
  readonly tenantId: string;
  readonly lines: readonly LogLine[];
  /** The functions that its error came through. */
  readonly names: readonly string[];
  /** Lines of ours, below those of the code. */
  readonly notes: readonly string[];
  readonly known: KnownToRun;
}

/** The texts as they may be kept. No names: they were dropped. */
export interface Shown {
  readonly lines: readonly LogLine[];
  readonly names: readonly string[];
}

/** Bytes of lines that wait, and of the values that they must not show. */
const waitingBytesMax = 96 * 1024 * 1024;
/** The values of a run that knew much take this at most: they are not counted further. */
const largeBytes = 24 * 1024 * 1024;
const countedBytesMax = 64 * 1024;
const countedValuesMax = 1_000;
/** The cost of redacting the lines of one run: about 250 ms at worst. */
const stepsMax = 16_000_000;

/** The memory of this process that lines of ended runs take, shared out between tenants. */
export const waitingLines = new Shares({ places: waitingBytesMax });

/** Tenants in turn, each with its runs in their order. */
const queues = new Map<string, Work<void>[]>();
let isWorking = false;

/**
 * Redacts the lines of a run when nobody waits for it any more, in slices, one run at a time. Where
 * too much is waiting already, one line says that they were dropped.
 */
export function redactLater(written: Written, then: (shown: Shown) => void): void {
  const { tenantId, lines } = written;
  let release: () => void;
  try {
    release = waitingLines.takeNow(tenantId, weightOf(written));
  } catch {
    return then({ lines: withoutLines(lines), names: [] });
  }
  const queue = queues.get(tenantId) ?? [];
  queue.push(job(written, then, release));
  queues.set(tenantId, queue);
  if (isWorking) return;
  isWorking = true;
  void nextSlice().then(() => inSlices(jobs()));
}

/** Ends in the moment in which it finds no job: one that comes later begins anew. */
function* jobs(): Work<void> {
  try {
    for (let next = nextJob(); next; next = nextJob()) {
      yield* next;
      yield;
    }
  } finally {
    isWorking = false;
  }
}

function nextJob(): Work<void> | undefined {
  const [first] = queues;
  if (first === undefined) return undefined;
  const [tenantId, queue] = first;
  const next = queue.shift();
  queues.delete(tenantId);
  if (queue.length > 0) queues.set(tenantId, queue);
  return next;
}

function* job(
  { lines, names, notes, known }: Written,
  then: (shown: Shown) => void,
  release: () => void,
): Work<void> {
  // The line before this one was cut, maybe in the middle of a value. So it has to be the last one.
  const isCut = lines.at(-1)?.text === linesDropped;
  const written = isCut ? lines.slice(0, -1) : lines;
  const before = [...names, ...notes];
  let texts: readonly string[] = [];
  try {
    texts = yield* redactorOf(known, stepsMax)([...before, ...written.map(({ text }) => text)]);
  } catch {
    // A value that could not be looked at is not shown.
  }
  const shown = (nth: number): string => texts[nth] ?? redacted;
  const at = lines.at(-1)?.at ?? Date.now();
  release();
  then({
    names: names.map((_, nth) => shown(nth)),
    lines: [
      ...written.map((line, nth) => ({ ...line, text: shown(before.length + nth) })),
      ...lines.slice(written.length),
      ...notes.map((_, nth) => ({ at, level: 'warn', text: shown(names.length + nth) })),
    ],
  });
}

function withoutLines(lines: readonly LogLine[]): LogLine[] {
  const [{ at } = { at: Date.now() }] = lines;
  return [{ at, level: 'warn', text: 'The lines of this run were dropped: too many waited.' }];
}

/** An estimate that costs little: it looks at the first values only. */
function weightOf({
  lines,
  names,
  notes,
  known: { data, opened, args, sent, configuration },
}: Written): number {
  const texts = [...names, ...notes, ...lines.map(({ text }) => text)];
  const ofLines = texts.reduce((bytes, text) => bytes + 64 + 2 * text.length, 0);
  const open: unknown[] = [
    args,
    sent === args ? undefined : sent,
    configuration,
    ...data,
    ...(opened.values ?? []),
  ];
  let bytes = 0;
  let values = 0;
  for (let next = open.pop(); next !== undefined || open.length > 0; next = open.pop()) {
    values += 1;
    bytes += 16 + (typeof next === 'string' ? 2 * next.length : 0);
    if (bytes > countedBytesMax || values > countedValuesMax) return ofLines + largeBytes;
    if (Array.isArray(next) && next.length > countedValuesMax) return ofLines + largeBytes;
    if (typeof next !== 'object' || next === null) continue;
    const members = Object.entries(next).slice(0, countedValuesMax + 1);
    open.push(...(Array.isArray(next) ? next : members.flat()));
  }
  return ofLines + bytes;
}
