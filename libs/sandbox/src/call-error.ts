import { objectOf } from './members';
import type { JsonObject } from './frames';

/**
 * Describes an error of `svc` for customers' code, without stack and class. An error without a
 * status was not made for that code. It may name an internal host, query or value, so nothing of it
 * is shown.
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
