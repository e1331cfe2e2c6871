import { EgressRefused } from '@glovebox/egress';
import type { Failure, Problem, ProblemCode } from '@glovebox/problems';
import type { Call } from '../observing/call';

/** The place and the reason of problems that have the same wherever they are found. */
const failures: Partial<Record<ProblemCode, Failure>> = {
  unknown_token: { phase: 'lookup', reason: 'a token is unknown, deleted or expired' },
  permission_denied: { phase: 'lookup', reason: 'the key does not permit this' },
  application_gone: { phase: 'lookup', reason: 'the application of the proxy or reactor is gone' },
  changed_meanwhile: { phase: 'lookup', reason: 'a definition changed within the call' },
  service_unavailable: { phase: 'lookup', reason: 'a part of the service is away' },
  no_capacity: { phase: 'transform', reason: 'no sandbox was free to run the code' },
};

/** Adds where and why, to a problem that does not say so yet. */
export function located(problem: Problem): Problem {
  problem.failure ??= failures[problem.code];
  return problem;
}

/** Notes why a call failed, for its answer and for all that observes it. */
export function recordProblem(call: Call, problem: Problem): void {
  const { failure } = located(problem);
  if (failure) {
    const { destinationStatus = failure.destinationStatus } = call;
    problem.failure = { ...failure, destinationStatus };
  }
  call.problem = problem;
}

/**
 * What the operator is told, who may know more than callers: also that egress refused, and by which
 * rule. Every word is one of ours.
 */
export function operatorsReason(problem: Problem): Pick<Failure, 'phase' | 'reason'> | undefined {
  const { failure, cause } = problem;
  if (failure) return failure;
  if (!(cause instanceof EgressRefused)) return undefined;
  return { phase: 'connect', reason: `refused by the egress policy: ${cause.rule}` };
}
