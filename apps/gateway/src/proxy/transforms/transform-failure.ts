import { Problem, type ProblemCode } from '@glovebox/problems';

/** The message that a transform changes. */
export type Side = 'request' | 'response';

type Reasons = Partial<Record<ProblemCode, string>>;

/** What went wrong with the code of a transform. */
const ofCode: Reasons = {
  invalid_code: 'cannot be used',
  invalid_reactor_result: 'returned nothing that can be sent',
  no_capacity: 'found no free sandbox',
  payload_too_large: 'is given too much',
  reactor_crashed: 'ended with its process',
  reactor_error: 'threw',
  unsupported_media_type: 'is given a body of another type than JSON, form or text',
};

/** What went wrong with a step. */
const ofStep: Reasons = {
  invalid_expression: 'has an expression that does not fit the value',
  invalid_json: 'reads a number whose digits would be lost',
  payload_too_large: 'reads or makes too much',
};

/** What went wrong with all steps of a side. */
const ofSteps: Reasons = {
  invalid_json: 'are given a body that is not JSON',
  invalid_request: 'are given a body that cannot be read',
  payload_too_large: 'are given or make too much',
  unsupported_media_type: 'are given a body that is not JSON',
  validation_failed: 'tokenize a value that is no valid data of its token',
};

/** Says that code failed, such as the request transform. `limitMs`: the time that it may take. */
export const failedInCode = (thrown: unknown, code: string, limitMs: number): unknown =>
  failedIn(thrown, `the ${code}`, {
    ...ofCode,
    reactor_timeout: `ran longer than ${limitMs / 1_000} s`,
  });

/** Says which step failed, by its place in the proxy: `request_transforms.0`. */
export const failedInStep = (thrown: unknown, side: Side, at: number): unknown =>
  failedIn(thrown, `${side}_transforms.${at}`, ofStep, 'failed');

/** Says to every caller that something is missing. Which step missed it is for those of the tenant. */
export const unmatchedStep = (side: Side, at: number): Problem =>
  new Problem('invalid_request', {
    detail: 'The body lacks a value that a step of the proxy requires.',
    failure: {
      phase: 'transform',
      reason: `${side}_transforms.${at} is required, and its path matches nothing`,
    },
  });

/** Says on which side steps failed. */
export const failedInSteps = (thrown: unknown, side: Side): unknown =>
  failedIn(thrown, `${side}_transforms`, ofSteps);

/** Adds where and why to a problem that does not say so yet. Without a reason it is left alone. */
function failedIn(thrown: unknown, what: string, reasons: Reasons, otherwise?: string): unknown {
  if (!(thrown instanceof Problem)) return thrown;
  const reason = reasons[thrown.code] ?? otherwise;
  if (reason !== undefined) thrown.failure ??= { phase: 'transform', reason: `${what} ${reason}` };
  return thrown;
}
