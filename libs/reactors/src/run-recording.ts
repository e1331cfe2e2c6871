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
  readonly codeHash: string;
  readonly record: Recorder | undefined;
}

type Recorder = (record: RunRecord) => void;
type Texts = Pick<Required<RunRecord>, 'lines' | 'stack'>;

const noTexts: Texts = { lines: [], stack: [] };

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

/** The records of this process whose texts are not redacted yet. */
const underWay = new Set<Promise<void>>();

/** The records without texts that wait for the end of the present turn. */
let endedNow: (() => void)[] = [];

/** One turn for all records of a moment, behind the answers of their runs. */
function behindAnswers(record: () => void): void {
  endedNow.push(record);
  if (endedNow.length > 1) return;
  setImmediate(() => {
    const due = endedNow;
    endedNow = [];
    for (const each of due) each();
  });
}

/** Waits until every run that has ended is recorded, at most this long. */
export async function runsRecorded(limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise((resolve) => (timer = setTimeout(resolve, limitMs)));
  // Those that wait for the end of the turn were scheduled before.
  const endOfTurn = new Promise<void>((resolve) => setImmediate(resolve));
  await Promise.race([Promise.all([endOfTurn, ...underWay]), limit]);
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
      if (record !== undefined) {
        const durationMs = Math.round(performance.now() - this.#began);
        if (urgency === 'async') await this.#recordTexts(ended, durationMs, record);
        else if (this.#hasTexts) void this.#recordTexts(ended, durationMs, record);
        else behindAnswers(() => this.#handOver(ended, durationMs, noTexts, record));
      }
    }
  }

  get #hasTexts(): boolean {
    return this.#lines.length + this.#stack.length > 0 || this.#note !== undefined;
  }

  /** Never rejects. */
  #recordTexts(ended: Ended, durationMs: number, record: Recorder): Promise<void> {
    const recorded = (async () => {
      await new Promise(setImmediate);
      this.#handOver(ended, durationMs, await this.#shown(), record);
    })();
    underWay.add(recorded);
    return recorded.then(() => void underWay.delete(recorded));
  }

  /** Never throws. Hot path: one literal, because each spread more costs a kilobyte. */
  #handOver(
    { outcome, status, message }: Ended,
    durationMs: number,
    { lines, stack }: Texts,
    record: Recorder,
  ): void {
    try {
      const position = this.#position;
      const made: RunRecord = {
        outcome,
        status,
        startedAt: this.#startedAt,
        durationMs,
        queuedMs: this.#queuedMs,
        argumentNames: this.run.argumentNames(this.#known?.args),
        tokenIds: this.#tokenIds,
        lines,
        codeHash: this.run.codeHash,
      };
      const isBare = message === undefined && position === undefined && stack.length === 0;
      if (isBare) return record(made);
      record({
        ...made,
        ...(message === undefined ? {} : { message }),
        ...(position === undefined ? {} : { position }),
        ...(stack.length === 0 ? {} : { stack }),
      });
    } catch (error) {
      this.#report(error);
    }
  }

  /** Nothing where it cannot be redacted: no text is ever shown as the code wrote it. */
  async #shown(): Promise<Texts> {
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
