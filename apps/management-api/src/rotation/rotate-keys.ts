import { setTimeout as delay } from 'node:timers/promises';
import { raiseSealingVersion, sealedCounts, sealingVersion } from '@glovebox/database';
import { removeOlderPayloads, resealDefinitions } from '@glovebox/definitions';
import { UnknownMasterKey } from '@glovebox/seal';
import type { RotationContext } from './context';
import {
  describeStatus,
  isUnused,
  keyStatus,
  untilRedisAnswers,
  type KeyStatus,
} from './key-status';
import { rewrapDataKeys } from './rewrap-data-keys';

interface Rotation {
  readonly status: KeyStatus;
  readonly rewrapped: number;
  readonly resealed: number;
  readonly damaged: number;
  /** Whether no older key is known to be needed any more. */
  readonly complete: boolean;
}

/**
 * Makes a version of the ring the sealing key, and reseals what older keys sealed. Every step
 * continues where an interrupted or concurrent rotation is, so the command may be repeated.
 */
export async function rotateKeys(
  ctx: RotationContext,
  to = ctx.ring.newestVersion,
): Promise<Rotation> {
  const { database, ring } = ctx;
  await requireRing(ctx, to);
  // First, so that nothing sealed from here on needs the older keys.
  await raiseSealingVersion(database, to);
  const keys = await rewrapDataKeys(database, ring);
  const entries = await resealDefinitions(database, ring);
  const status = await clearRedis(ctx);
  return {
    status,
    rewrapped: keys.rewrapped,
    resealed: entries.resealed,
    damaged: keys.damaged + entries.damaged,
    complete: olderUses(status).every(isUnused),
  };
}

/**
 * Describes the outcome. Throws the text if older keys are still needed, so that the command fails.
 */
export function describeRotation(rotation: Rotation): string {
  const { status, rewrapped, resealed, damaged, complete } = rotation;
  const text = [
    `Version ${status.sealing} seals. Sealed anew: ${rewrapped} data keys, ${resealed} definitions.`,
    ...(damaged > 0 ? [`${damaged} are damaged: no key opens them. They were left alone.`] : []),
    describeStatus(status),
  ].join('\n');
  if (!complete) throw new Error(`${text}\nOlder keys are still needed: see above.`);
  return text;
}

/** Checks, before any change, that this ring opens everything and that `to` may seal. */
async function requireRing({ database, ring }: RotationContext, to: number): Promise<void> {
  const sealing = await sealingVersion(database, ring.newestVersion);
  const used = (await sealedCounts(database)).map(({ version }) => version);
  const missing = [to, sealing, ...used].find(
    (version) => version > 0 && !ring.versions.has(version),
  );
  if (missing !== undefined) throw new UnknownMasterKey(missing);
  if (to < sealing) {
    throw new Error(`Version ${sealing} seals already. A rotation does not go back to ${to}.`);
  }
}

const clearedWithinMs = 10_000;

/**
 * Removes the cached definitions of older keys, also those that a process brings back late.
 */
async function clearRedis(ctx: RotationContext): Promise<KeyStatus> {
  const until = performance.now() + clearedWithinMs;
  for (;;) {
    const sealing = await sealingVersion(ctx.database, ctx.ring.newestVersion);
    await untilRedisAnswers(() => removeOlderPayloads(ctx.redis, sealing));
    const status = await keyStatus(ctx);
    // Damaged entries stay in Postgres, and any process may put them into Redis.
    const isLeft = olderUses(status).some(({ inRedis = 0, definitions }) => inRedis > definitions);
    if (!isLeft || performance.now() > until) return status;
    await delay(100);
  }
}

function olderUses({ sealing, uses }: KeyStatus): KeyStatus['uses'] {
  return uses.filter(({ version }) => version > 0 && version < sealing);
}
