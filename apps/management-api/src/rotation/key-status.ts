import { setTimeout as delay } from 'node:timers/promises';
import { sealedCounts, sealingVersion } from '@glovebox/database';
import { countCachedPayloads } from '@glovebox/definitions';
import type { RotationContext } from './context';

/** The things that a master key is still needed to open. */
interface KeyUse {
  readonly version: number;
  readonly inRing: boolean;
  readonly dataKeys: number;
  readonly definitions: number;
  /** Undefined while Redis does not answer. */
  readonly inRedis: number | undefined;
}

export interface KeyStatus {
  readonly sealing: number;
  readonly uses: readonly KeyUse[];
}

export async function keyStatus({ database, redis, ring }: RotationContext): Promise<KeyStatus> {
  const sealing = await sealingVersion(database, ring.newestVersion);
  const cached = await untilRedisAnswers(() => countCachedPayloads(redis));
  // Read after Redis: payloads put there meanwhile are sealed by a key that Postgres shows now, or
  // a newer one.
  const counts = new Map((await sealedCounts(database)).map((count) => [count.version, count]));
  const versions = new Set([
    ...ring.versions,
    sealing,
    ...counts.keys(),
    ...(cached?.keys() ?? []),
  ]);
  const uses = [...versions].sort((a, b) => a - b);
  return {
    sealing,
    uses: uses.map((version) => ({
      version,
      inRing: ring.versions.has(version),
      dataKeys: counts.get(version)?.dataKeys ?? 0,
      definitions: counts.get(version)?.definitions ?? 0,
      inRedis: cached && (cached.get(version) ?? 0),
    })),
  };
}

/** Whether no process needs the key any more, to seal or to open what Postgres and Redis hold. */
export function mayBeTakenOut({ sealing }: KeyStatus, use: KeyUse): boolean {
  return use.version < sealing && isUnused(use);
}

export function isUnused({ dataKeys, definitions, inRedis }: KeyUse): boolean {
  return dataKeys === 0 && definitions === 0 && inRedis === 0;
}

const answersWithinMs = 2_000;

export async function untilRedisAnswers<Value>(
  ask: () => Promise<Value>,
): Promise<Value | undefined> {
  const until = performance.now() + answersWithinMs;
  for (;;) {
    try {
      return await ask();
    } catch {
      if (performance.now() > until) return undefined;
      await delay(50);
    }
  }
}

export function describeStatus(status: KeyStatus): string {
  const rows = status.uses.map((use) => [
    use.version === 0 ? 'damaged' : String(use.version),
    use.inRing ? 'yes' : 'no',
    String(use.dataKeys),
    String(use.definitions),
    String(use.inRedis ?? '?'),
    verdictOn(status, use),
  ]);
  const table = [['version', 'in the ring', 'data keys', 'definitions', 'in Redis', ''], ...rows];
  return table
    .map((row) =>
      row
        .map((cell) => cell.padEnd(13))
        .join('')
        .trimEnd(),
    )
    .join('\n');
}

function verdictOn(status: KeyStatus, use: KeyUse): string {
  if (use.version === 0) return 'no key opens these';
  if (use.version === status.sealing) {
    return use.inRing ? 'seals' : 'SEALS AND IS MISSING HERE';
  }
  if (use.version > status.sealing) return 'does not seal yet';
  if (!use.inRing && isUnused(use)) return 'is not needed any more';
  if (mayBeTakenOut(status, use)) return 'may be taken out of KEY_RING';
  const unknown = use.inRedis === undefined ? ': Redis does not answer' : '';
  return use.inRing ? `must stay in KEY_RING${unknown}` : 'IS NEEDED AND MISSING HERE';
}
