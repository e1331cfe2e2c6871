import type { Problem } from '@glovebox/problems';

/**
 * How a call ended. `completed`: the caller got the whole answer, below 400. `destination_error`: the
 * destination itself answered 400 or more, and the caller got that. `failed`: the answer was an
 * error of ours or of the customer's code, or broke off. `left`: the caller left before its answer
 * was complete.
 */
export const callOutcomes = ['completed', 'destination_error', 'failed', 'left'] as const;
export type CallOutcome = (typeof callOutcomes)[number];

/** The outcomes of a call that its caller would call a failure. */
export const failedOutcomes = ['failed', 'destination_error'] as const;

/** The end of a call, as the server that answered it saw it. */
interface EndOfCall {
  /** Undefined where the caller left before an answer. */
  readonly status: number | undefined;
  readonly destinationStatus: number | undefined;
  readonly problem: Problem | undefined;
  readonly left: boolean;
}

export function outcomeOf({ status, destinationStatus, problem, left }: EndOfCall): CallOutcome {
  if (problem) return 'failed';
  if (left || status === undefined) return 'left';
  if (status < 400) return 'completed';
  return destinationStatus !== undefined && destinationStatus >= 400
    ? 'destination_error'
    : 'failed';
}
