import { objectOf } from './run';
import type { JsonObject } from './frames';

/** An error of `svc` or of egress as it travels to customers' code: no stack, no class. */
export function describeCallError(error: unknown): JsonObject {
  if (!(error instanceof Error)) return { message: 'The call failed' };
  const { code, status, data } = error as { code?: unknown; status?: unknown; data?: unknown };
  return { message: error.message, code, status, data };
}

export function parseCallError(value: unknown): Error {
  const { message, code, status, data } = objectOf(value, 'error');
  return Object.assign(new Error(typeof message === 'string' ? message : 'The call failed'), {
    ...(code === undefined ? {} : { code }),
    ...(status === undefined ? {} : { status }),
    ...(data === undefined ? {} : { data }),
  });
}
