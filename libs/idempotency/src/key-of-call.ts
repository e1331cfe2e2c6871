import { Problem } from '@glovebox/problems';

/** Marks an answer that was stored before. */
export const replayHeader = 'SVC-IDEMPOTENT-REPLAY';

/** Statuses that are not stored where the work was not begun: a retry may succeed. */
export const statusesNotStored: ReadonlySet<number> = new Set([
  400, 401, 403, 404, 413, 415, 429, 503,
]);

const keyPattern = /^[\x21-\x7e]{1,255}$/;

/** Checks the value of the header, if there is one. */
export function requireIdempotencyKey(key: string | undefined): string | undefined {
  if (key === undefined || keyPattern.test(key)) return key;
  throw new Problem('invalid_request', {
    detail: 'The idempotency key must be 1 to 255 visible ASCII characters.',
  });
}
