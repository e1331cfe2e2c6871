import { randomUUID } from 'node:crypto';

/** The time that a UUID of version 7 begins with, as its first two groups. */
function beginning(ms: number): string {
  const time = Math.trunc(ms).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}`;
}

/**
 * Makes a UUID of version 7: 48 bits of time in milliseconds, then random bits. Ids are in the
 * order of their time, and a log that is partitioned by id finds one in a single partition. The
 * random bits are those of a UUID of version 4, of which Node makes many at once.
 */
export const timeOrderedId = (now = Date.now()): string =>
  `${beginning(now)}-7${randomUUID().slice(15)}`;

/** The id that every time-ordered id of that moment or later is above. */
export const lowestIdAt = (ms: number): string =>
  `${beginning(Math.max(ms, 0))}-0000-0000-000000000000`;

/** The time of a time-ordered id, in milliseconds since 1970. Undefined for other ids. */
export const timeOfId = (id: string): number | undefined =>
  id[14] === '7' ? parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined;
