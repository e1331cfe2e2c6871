import { randomFillSync } from 'node:crypto';

/** The time that a UUID of version 7 begins with, as its first two groups. */
function beginning(ms: number): string {
  const time = Math.trunc(ms).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}`;
}

/**
 * Makes a UUID of version 7: 48 bits of time in milliseconds, then random bits. Ids are in the
 * order of their time, and a log that is partitioned by id finds one in a single partition. The
 * random bytes are made for many ids at once. Hot path: an id costs a few short texts.
 */
export function timeOrderedId(now = Date.now()): string {
  if (usedBytes === randomBytes.length) {
    randomFillSync(randomBytes);
    usedBytes = 0;
  }
  const random = randomBytes.toString('hex', usedBytes, usedBytes + bytesOfId);
  // No two ids may ever be made of the same bytes.
  usedBytes += bytesOfId;
  const variant = variants[parseInt(random.charAt(3), 16) & 3];
  return `${beginning(now)}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(8)}`;
}

/** The random parts of an id have 74 bits: three digits, one of four variants, three and twelve. */
const bytesOfId = 10;
const variants = ['8', '9', 'a', 'b'];
const randomBytes = Buffer.alloc(400 * bytesOfId);
let usedBytes = randomBytes.length;

/** The id that every time-ordered id of that moment or later is above. */
export const lowestIdAt = (ms: number): string =>
  `${beginning(Math.max(ms, 0))}-0000-0000-000000000000`;

/** The time of a time-ordered id, in milliseconds since 1970. Undefined for other ids. */
export const timeOfId = (id: string): number | undefined =>
  id[14] === '7' ? parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined;
