import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';

/**
 * Under root each sandbox is a user and a group of its own, because the kernel counts threads by
 * uid and lets processes of one uid signal each other. The user nobody (65534) is not free: the
 * stores of `npm start` run as it.
 */
export const sandboxUidCount = 10_000_000;

interface UidRange {
  readonly first: number;
  readonly count: number;
}

/** Below the 65,536 ids that a container's user namespace often maps, and above those of people. */
const rangeOfSmallMaps: UidRange = { first: 30_000, count: 30_000 };

const live = new Set<number>();
/** Two runners on one machine begin at different places of the same range. */
let last = randomInt(sandboxUidCount);

/** Returns a uid that no sandbox of this process has. A uid is not reused for a long time. */
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

/**
 * `uidMap`: the text of /proc/self/uid_map, lines of first id inside, first id outside and count.
 */
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
