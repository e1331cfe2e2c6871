import { toProblem } from '@glovebox/problems';
import {
  logLinesMax,
  placeAt,
  type Cancellation,
  type CodePlace,
  type LogLine,
  type RunOutcome,
  type Urgency,
} from '@glovebox/sandbox';
import type { RunRecord } from '@glovebox/runs';
import { describeError, type Logger } from '@glovebox/service-host';
import { redactLater } from './line-redactions';
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

  ended(outcome: RunOutcome): void {
    this.#queuedMs = outcome.queuedMs ?? 0;
    if (!('error' in outcome)) return;
    this.#position = placeAt(outcome.error.line, outcome.error.column);
  }

  /** Does the work of the run, and records how it ended. */
  async execute<Answer>(
    work: () => Promise<Answer>,
    statusOf: (answer: Answer) => number = () => 200,
  ): Promise<Answer> {
    let ended: Pick<RunRecord, 'outcome' | 'status'> = { outcome: 'cancelled', status: 499 };
    try {
      const answer = await work();
      ended = { outcome: 'completed', status: statusOf(answer) };
      return answer;
    } catch (thrown) {
      const { code, status } = toProblem(thrown);
      if (!this.run.signal?.aborted) ended = { outcome: code, status };
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
  async #record(
    ended: Pick<RunRecord, 'outcome' | 'status'>,
    record: (record: RunRecord) => void,
  ): Promise<void> {
    const durationMs = Math.round(performance.now() - this.#began);
    await new Promise(setImmediate);
    const lines = await this.#shownLines();
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
      });
    } catch (error) {
      this.#report(error);
    }
  }

  /** No lines where they cannot be redacted: none is ever shown as it was written. */
  async #shownLines(): Promise<readonly LogLine[]> {
    const { tenantId } = this.run;
    const [lines, known] = [this.#lines, this.#known];
    if (lines.length === 0 || known === undefined) return [];
    try {
      return await new Promise((resolve) => redactLater({ tenantId, lines, known }, resolve));
    } catch (error) {
      this.#report(error);
      return [];
    }
  }

  #report(error: unknown): void {
    this.run.logger.error({ error: describeError(error) }, 'a run could not be recorded');
  }
}
