import type { ProblemCode } from '@glovebox/problems';
import type { CodePlace, LogLine } from '@glovebox/sandbox';

/** All that is kept of a run. It holds names and ids, and no value that the run knew. */
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
  /** The place in the author's code where its error was made. */
  readonly position?: CodePlace;
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

/** The store of what runs did. */
export interface RunLog {
  /** Never throws and never waits. */
  add(entry: RunLogEntry): void;
}
