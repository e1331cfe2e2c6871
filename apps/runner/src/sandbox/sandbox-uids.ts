import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';

/**
 * Under root each sandbox is a user and a group of its own: the kernel counts threads by uid, lets
 * processes of one uid signal each other, and nobody (65534) is who the stores of `npm start` run as.
 */
export const sandboxUidCount = 10_000_000;

interface UidRange {
  readonly first: number;
  readonly count: number;
}

/** Containers with a user namespace often map 65,536 ids: below those, above the ones of people. */
const rangeOfSmallMaps: UidRange = { first: 30_000, count: 30_000 };

const live = new Set<number>();
/** Two runners on one machine begin at different places of the same range. */
let last = randomInt(sandboxUidCount);

/** A uid that no sandbox of this process has. It is a long time until one is given again. */
export function takeSandboxUid(first: number): { uid: number; release(): void } {
  const range = rangeOf(first, readFileSync('/proc/self/uid_map', 'utf8'));
  let uid: number;
  do {
    last = (last + 1) % sandboxUidCount;
    uid = range.first + (last % range.count);
  } while (live.has(uid));
  live.add(uid);
  return { uid, release: () => live.delete(uid) };
}

/** `uidMap`: what /proc/self/uid_map says, lines of first id inside, first id outside and count. */
export function rangeOf(first: number, uidMap: string): UidRange {
  const wanted = { first, count: sandboxUidCount };
  const blocks = uidMap
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([inside = 0, , count = 0]): UidRange => ({ first: inside, count }));
  const isMapped = (range: UidRange): boolean =>
    blocks.some(
      (block) =>
        block.first <= range.first && range.first + range.count <= block.first + block.count,
    );
  return isMapped(wanted) || !isMapped(rangeOfSmallMaps) ? wanted : rangeOfSmallMaps;
}
