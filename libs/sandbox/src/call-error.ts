import { objectOf } from './run';
import type { JsonObject } from './frames';

/**
 * An error of `svc` as it travels to customers' code: no stack, no class. One without a status was
 * not made for that code: it may name a host, a query or a value of ours, so nothing of it is shown.
 */
export function describeCallError(error: unknown): JsonObject {
  if (typeof error === 'object' && error !== null) {
    const { message, code, status, data } = error as Record<string, unknown>;
    if (typeof status === 'number') return { message, code, status, data };
  }
  return { message: 'The call failed.', status: 500 };
}

export function parseCallError(value: unknown): Error {
  const { message, code, status, data } = objectOf(value, 'error');
  return Object.assign(new Error(typeof message === 'string' ? message : 'The call failed.'), {
    ...(code === undefined ? {} : { code }),
    ...(status === undefined ? {} : { status }),
    ...(data === undefined ? {} : { data }),
  });
}
