import { setTimeout as delay } from 'node:timers/promises';
import {
  deleteOldRuns,
  takeBackSilentRuns,
  tenantsWithDueRuns,
  workerAliveKey,
} from '@glovebox/reactors';
import { describeError } from '@glovebox/service-host';
import type { WorkerContext } from './context';
import { deleteOldDeliveries, tenantsWithDueDeliveries } from './deliver-webhook';

interface Woken {
  wake(tenantId: string): void;
}

const sweepMs = 1_000;
const clearingMs = 10 * 60_000;
/** How long a run and its webhook are kept after their end. */
export const endedKeptMs = 24 * 60 * 60 * 1_000;
const clearedRowsMax = 1_000;
/** Whoever upgrades an old installation has millions of them: the database has other work in between. */
export const clearingPauseMs = 200;

/**
 * Wakes the tenants that have due rows: rows whose reminder was lost with Redis, runs of workers
 * that died, webhooks whose next attempt is due. So nothing that was promised depends on Redis.
 */
export function startSweeper(
  ctx: WorkerContext,
  { runs, deliveries }: { runs: Woken; deliveries: Woken },
): { stop(): Promise<void> } {
  const stopped = new AbortController();
  const every = async (ms: number, what: string, work: () => Promise<void>): Promise<void> => {
    while (!stopped.signal.aborted) {
      await work().catch((error: unknown) => {
        ctx.logger.warn({ error: describeError(error) }, what);
      });
      await delay(ms, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  };
  const running = [
    every(sweepMs, 'the sign of life was not given', async () => {
      await ctx.definitions.redis.set(workerAliveKey, process.pid, 'PX', sweepMs * 3);
    }),
    every(sweepMs, 'a sweep failed', async () => {
      await takeBackSilentRuns(ctx.database);
      for (const tenantId of await tenantsWithDueRuns(ctx.database)) runs.wake(tenantId);
      for (const tenantId of await tenantsWithDueDeliveries(ctx.database))
        deliveries.wake(tenantId);
    }),
    every(clearingMs, 'old runs were not cleared away', () => clearAway(ctx, stopped.signal)),
  ];
  return {
    async stop() {
      stopped.abort();
      await Promise.all(running);
    },
  };
}

/** A part at a time, so that no lock is held for long; and the disk is left to others in between. */
export async function clearAway({ database }: WorkerContext, stopped: AbortSignal): Promise<void> {
  for (const deleteOld of [deleteOldRuns, deleteOldDeliveries]) {
    while ((await deleteOld(database, endedKeptMs, clearedRowsMax)) === clearedRowsMax) {
      await delay(clearingPauseMs, undefined, { signal: stopped }).catch(() => undefined);
      if (stopped.aborted) return;
    }
  }
}
