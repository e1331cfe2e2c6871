import { toProblem, type Problem } from '@glovebox/problems';
import {
  logLinesMax,
  cutThrownText,
  placeAt,
  type Cancellation,
  type CodeFrame,
  type CodePlace,
  type LogLine,
  type RunOutcome,
  type Urgency,
} from '@glovebox/sandbox';
import type { RunRecord } from '@glovebox/runs';
import { describeError, type Logger } from '@glovebox/service-host';
import { redactLater, type Shown } from './line-redactions';
import type { KnownToRun } from './redact';

interface RecordedRun {
  readonly tenantId: string;
  readonly logger: Pick<Logger, 'error'>;
  readonly urgency: Urgency;
  readonly signal: Cancellation | undefined;
  /** `filled`: the arguments with data in them, where it was opened. */
  readonly argumentNames: (filled?: KnownToRun['args']) => readonly string[];
  readonly record: ((record: RunRecord) => void) | undefined;
}

type Ended = Pick<RunRecord, 'outcome' | 'status' | 'message'>;

const cancelled: Ended = {
  ...{ outcome: 'cancelled', status: 499 },
  message: 'The caller left before the run had ended.',
};

/** What an error says in its answer, where nothing is left that the run knew. */
function textOf({ errors, message }: Problem): string {
  const said = Object.entries(errors ?? {}).flatMap(([name, texts]) =>
    texts.map((text) => (name === 'error' ? text : `${name}: ${text}`)),
  );
  return cutThrownText(said.length === 0 ? message : said.join('; '));
}

/** The frames with their names as they are shown: none is, if those were dropped. */
function withNames(stack: readonly CodeFrame[], names: readonly string[]): CodeFrame[] {
  const left = names.values();
  return stack.map(({ function: name, line, column }) => {
    const shown = name === undefined ? undefined : left.next().value;
    return { ...(shown === undefined ? {} : { function: shown }), line, column };
  });
}

/** The records of this process that are not handed over yet. */
const underWay = new Set<Promise<void>>();

/** Waits until every run that has ended is recorded, at most this long. */
export async function runsRecorded(limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise((resolve) => (timer = setTimeout(resolve, limitMs)));
  await Promise.race([Promise.all(underWay), limit]);
  clearTimeout(timer);
}

/**
 * Gathers what is recorded of one run, and hands it over when the run has ended. Nothing of it fails
 * the run. A caller that waits gets its answer first. An async run is over once it is recorded.
 */
export class RunRecording {
  readonly #startedAt = Date.now();
  readonly #began = performance.now();
  readonly #lines: LogLine[] = [];
  #tokenIds: readonly string[] = [];
  #known: KnownToRun | undefined;
  #queuedMs = 0;
  #position: CodePlace | undefined;
  #stack: readonly CodeFrame[] = [];
  #note: string | undefined;

  constructor(private readonly run: RecordedRun) {}

  /** Takes a line of the code. The line that says that there were more replaces the last one. */
  readonly onLog = (line: LogLine): void => {
    if (this.#lines.length === logLinesMax) this.#lines.pop();
    this.#lines.push(line);
  };

  uses(tokenIds: readonly string[]): void {
    this.#tokenIds = tokenIds;
  }

  /** No line shows any of this. */
  knows(known: KnownToRun): void {
    this.#known = known;
  }

  /** Adds a line of ours below those of the code. It names what the code named. */
  notes(text: string | undefined): void {
    this.#note = text;
  }

  ended(outcome: RunOutcome): void {
    this.#queuedMs = outcome.queuedMs ?? 0;
    if (!('error' in outcome)) return;
    const { line, column, stack = [] } = outcome.error;
    this.#position = placeAt(line, column);
    this.#stack = stack;
  }

  /** Does the work of the run, and records how it ended. */
  async execute<Answer>(
    work: () => Promise<Answer>,
    statusOf: (answer: Answer) => number = () => 200,
  ): Promise<Answer> {
    let ended: Ended = cancelled;
    try {
      const answer = await work();
      ended = { outcome: 'completed', status: statusOf(answer) };
      return answer;
    } catch (thrown) {
      const problem = toProblem(thrown);
      const { code, status } = problem;
      if (!this.run.signal?.aborted) ended = { outcome: code, status, message: textOf(problem) };
      throw thrown;
    } finally {
      const { record, urgency } = this.run;
      const recorded = record && this.#record(ended, record);
      if (recorded !== undefined) {
        underWay.add(recorded);
        void recorded.then(() => underWay.delete(recorded));
      }
      if (urgency === 'async') await recorded;
    }
  }

  /** Never rejects. */
  async #record(ended: Ended, record: (record: RunRecord) => void): Promise<void> {
    const durationMs = Math.round(performance.now() - this.#began);
    await new Promise(setImmediate);
    const { lines, stack } = await this.#shown();
    try {
      record({
        ...ended,
        startedAt: this.#startedAt,
        durationMs,
        queuedMs: this.#queuedMs,
        argumentNames: this.run.argumentNames(this.#known?.args),
        tokenIds: this.#tokenIds,
        lines,
        ...(this.#position === undefined ? {} : { position: this.#position }),
        ...(stack.length === 0 ? {} : { stack }),
      });
    } catch (error) {
      this.#report(error);
    }
  }

  /** Nothing where it cannot be redacted: no text is ever shown as the code wrote it. */
  async #shown(): Promise<Pick<Required<RunRecord>, 'lines' | 'stack'>> {
    const { tenantId } = this.run;
    const [lines, known, stack, note] = [this.#lines, this.#known, this.#stack, this.#note];
    if (known === undefined) return { lines: [], stack: [] };
    const names = stack.flatMap(({ function: name }) => name ?? []);
    const notes = note === undefined ? [] : [note];
    if (lines.length + names.length + notes.length === 0) return { lines, stack };
    try {
      const written = { tenantId, lines, names, notes, known };
      const shown = await new Promise<Shown>((resolve) => redactLater(written, resolve));
      return { lines: shown.lines, stack: withNames(stack, shown.names) };
    } catch (error) {
      this.#report(error);
      return { lines: [], stack: [] };
    }
  }

  #report(error: unknown): void {
    this.run.logger.error({ error: describeError(error) }, 'a run could not be recorded');
  }
}
