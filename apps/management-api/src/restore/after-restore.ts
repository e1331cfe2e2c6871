import {
  acceptDatabase,
  forgetCachedPayloads,
  lockDatabase,
  standingOf,
  tellMarker,
  type Standing,
} from '@glovebox/definitions';
import {
  failHeld,
  heldByTenant,
  holdAlone,
  holdQueues,
  releaseHeld,
  type HeldCounts,
  type HeldOfTenant,
} from '@glovebox/runs';
import type { RestoreContext } from './context';
import { endKeys, type EndedKeys } from './end-keys';
import type { RestoreOptions } from './options';
import { whatChanged, type Changes } from './what-changed';

interface KeyUse {
  readonly id: string;
  readonly applicationId: string;
  readonly tenantId: string;
  readonly lastUsedAt: Date;
}

/** All that an operator has to look at. */
interface Findings extends Standing {
  /** Undefined: Redis does not answer. */
  readonly changes: Changes | undefined;
  readonly keysUsedLast: readonly KeyUse[];
  readonly held: readonly HeldOfTenant[];
}

/** What the command found and did. */
export interface Restored {
  readonly findings?: Findings;
  readonly isAccepted?: boolean;
  readonly heldNow?: HeldCounts;
  readonly released?: HeldCounts;
  readonly failed?: HeldCounts;
  readonly endedKeys?: EndedKeys;
}

const tenantsListedMax = 20;
const keysListedMax = 20;

export async function afterRestore(
  ctx: RestoreContext,
  options: Omit<RestoreOptions, 'json'>,
): Promise<Restored> {
  const { database } = ctx;
  const { action, tenantId, olderThanMs } = options;
  const before = olderThanMs === undefined ? undefined : new Date(Date.now() - olderThanMs);
  switch (action) {
    case 'release':
      return { released: await releaseHeld(database, { tenantId, before }) };
    case 'fail':
      return { failed: await failHeld(database, { tenantId, before }) };
    case 'end-keys':
      return { endedKeys: await endKeysOf(ctx, tenantId ?? '') };
    case 'status':
      return { findings: await findingsOf(ctx) };
    default:
      // Of two commands at once, the second finds the work of the first done.
      return database.transaction(async (alone) => {
        await holdAlone(alone);
        return accept(ctx, options);
      });
  }
}

/** Ends keys before the database is accepted, or at any time after that. */
async function endKeysOf(ctx: RestoreContext, tenantId: string): Promise<EndedKeys> {
  // Its head will pass the one that was seen.
  const { verdict } = await standingOf(ctx.database, ctx);
  if (verdict !== 'served') await lockDatabase(ctx.database);
  return endKeys(ctx, tenantId);
}

async function accept(
  ctx: RestoreContext,
  { action, isForced }: Pick<RestoreOptions, 'action' | 'isForced'>,
): Promise<Restored> {
  const { database, redis } = ctx;
  const findings = await findingsOf(ctx);
  if (findings.verdict === 'served' && !isForced) return { findings, isAccepted: false };
  const isPromotion = action === 'promoted';
  if (!isPromotion) await lockDatabase(database);
  const heldNow = isPromotion ? undefined : await holdQueues(database);
  // The copy may hold sessions that were signed out of since.
  await database.query('DELETE FROM console_sessions');
  await database.query('DELETE FROM console_codes');
  await database.query('DELETE FROM console_machines');
  const accepted = await acceptDatabase(database, { lost: !isPromotion });
  // Processes do without: the epoch before is one that the database knows.
  await Promise.all([forgetCachedPayloads(redis), tellMarker(ctx, accepted)]).catch(
    () => undefined,
  );
  const held = await heldByTenant(database, tenantsListedMax);
  return { findings: { ...findings, held }, isAccepted: true, ...(heldNow && { heldNow }) };
}

async function findingsOf(ctx: RestoreContext): Promise<Findings> {
  const { database } = ctx;
  return {
    ...(await standingOf(database, ctx)),
    changes: await whatChanged(ctx).catch(() => undefined),
    keysUsedLast: await database.query<KeyUse>(
      `SELECT id, application_id AS "applicationId", tenant_id AS "tenantId",
         last_used_at AS "lastUsedAt"
       FROM application_keys WHERE last_used_at IS NOT NULL
       ORDER BY last_used_at DESC LIMIT ${keysListedMax}`,
    ),
    held: await heldByTenant(database, tenantsListedMax),
  };
}
