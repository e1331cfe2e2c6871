import { randomBytes } from 'node:crypto';

const hexOfTime = (ms: number): string => Math.trunc(ms).toString(16).padStart(12, '0');

const uuidOf = (hex: string): string =>
  hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/**
 * Makes a UUID of version 7: 48 bits of time in milliseconds, then random bits. Ids are in the
 * order of their time, and a log that is partitioned by id finds one in a single partition.
 */
export function timeOrderedId(now = Date.now()): string {
  const random = randomBytes(10);
  random.writeUInt8(0x70 | ((random[0] ?? 0) & 0x0f), 0);
  random.writeUInt8(0x80 | ((random[2] ?? 0) & 0x3f), 2);
  return uuidOf(hexOfTime(now) + random.toString('hex'));
}

/** The id that every time-ordered id of that moment or later is above. */
export const lowestIdAt = (ms: number): string =>
  uuidOf(hexOfTime(Math.max(ms, 0)) + '0'.repeat(20));
