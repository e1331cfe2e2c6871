import { raisePulse } from '@glovebox/definitions';
import { waitingLines } from '@glovebox/reactors';
import {
  claimDeliveries,
  claimRuns,
  holdAfterLoss,
  takeBackPlaces,
  takeBackSilentRuns,
  tenantsWithDueRows,
  workerAliveKey,
  type ClaimedDelivery,
  type ClaimedRun,
  type QueueName,
} from '@glovebox/runs';
import { describeError } from '@glovebox/service-host';
import { observeShares } from '@glovebox/shares';
import { createBackground } from './background';
import { startConsumer } from './consumer';
import type { WorkerContext } from './context';
import { deliverWebhook } from './deliver-webhook';
import { executeRun } from './execute-run';
import { FairQueue } from './fair-queue';
import { startHousekeeping } from './housekeeping';
import { observeQueueDepths } from './observing/queue-depths';

const sweepMs = 1_000;

/** Starts all that a worker does: two queues, two ways to wake tenants in them, housekeeping. */
export async function startWorker(ctx: WorkerContext): Promise<{ stop(): Promise<void> }> {
  const deliveries = queueOfDeliveries(ctx);
  const runs = queueOfRuns(ctx, deliveries);
  observeShares(ctx.registry, {
    lookups: ctx.lookups,
    large_openings: ctx.vault.largeOpenings.shares,
    connections: ctx.database.shares,
    token_uses: ctx.tokenUses.places,
    run_lines: waitingLines,
    runs: runs.shares,
    deliveries: deliveries.shares,
  });
  observeQueueDepths(ctx.registry, ctx.database);
  const consumer = await startConsumer(ctx, runs);
  const background = createBackground(ctx);
  background.repeat('sign_of_life', sweepMs, () =>
    ctx.definitions.redis.set(workerAliveKey, process.pid, 'PX', sweepMs * 3),
  );
  background.repeat('pulse', sweepMs, () => raisePulse(ctx.database));
  background.repeat('hold', sweepMs, async () => {
    const held = await holdAfterLoss(ctx.database);
    if (held)
      ctx.logger.warn(held, 'Postgres lost commits: what waits is held, see docs/backup.md');
  });
  background.repeat('sweep', sweepMs, () => sweep(ctx, { runs, deliveries }));
  startHousekeeping(ctx, background);
  return {
    async stop() {
      // Together: nothing new begins while one of them waits for what it has. The webhooks of runs
      // that end meanwhile are due, and other workers find them.
      await Promise.all([background.stop(), consumer.stop(), runs.stop(), deliveries.stop()]);
    },
  };
}

/** Runs of a tenant that one claim takes. */
const runsClaimedAtOnceMax = 10;
/** Webhooks of a tenant that one claim takes. */
const deliveriesClaimedAtOnceMax = 20;

/** The runs that are due. The end of a run wakes its tenant in the queue of webhooks. */
export function queueOfRuns(
  ctx: WorkerContext,
  deliveries: Pick<FairQueue<unknown>, 'wake'>,
): FairQueue<ClaimedRun> {
  return new FairQueue({
    places: ctx.config.RUN_CONCURRENCY,
    claimedAtOnce: runsClaimedAtOnceMax,
    claim: (tenantId, atMost) => claimRuns(ctx.database.shareOf(tenantId), tenantId, atMost),
    async work(run) {
      const ending = await executeRun(ctx, run);
      deliveries.wake(run.tenantId);
      return ending;
    },
    onFault: (error) => ctx.logger.warn({ error: describeError(error) }, 'a run failed'),
  });
}

/** The webhooks that are due, as far as their receivers have places for them. */
export function queueOfDeliveries(ctx: WorkerContext): FairQueue<ClaimedDelivery> {
  /** Tenants of which a claim may have passed over a full receiver. */
  const heldUp = new Set<string>();
  const queue = new FairQueue<ClaimedDelivery>({
    places: ctx.config.DELIVERY_CONCURRENCY,
    claimedAtOnce: deliveriesClaimedAtOnceMax,
    async claim(tenantId, atMost) {
      // A place that becomes free during the claim may come too late for it.
      heldUp.add(tenantId);
      const claimed = await claimDeliveries(ctx.database.shareOf(tenantId), tenantId, atMost);
      if (claimed === 'full') return [];
      heldUp.delete(tenantId);
      return claimed;
    },
    async work(claimed) {
      const { tenantId } = claimed;
      try {
        await deliverWebhook(ctx, claimed);
      } finally {
        // A place is free. A sweep finds those that other workers give back.
        if (heldUp.delete(tenantId)) queue.wake(tenantId);
      }
      return 'done';
    },
    onFault: (error) => ctx.logger.warn({ error: describeError(error) }, 'a delivery failed'),
  });
  return queue;
}

/**
 * Wakes the tenants that have due rows: rows whose reminder was lost with Redis, runs of workers
 * that died, webhooks whose next attempt is due. No promise therefore depends on Redis.
 */
export async function sweep(
  { database, metrics }: Pick<WorkerContext, 'database' | 'metrics'>,
  queues: Readonly<Record<QueueName, Pick<FairQueue<unknown>, 'wake'>>>,
): Promise<void> {
  metrics.takenBack('runs', await takeBackSilentRuns(database));
  metrics.takenBack('deliveries', await takeBackPlaces(database));
  for (const queue of ['runs', 'deliveries'] as const) {
    for (const tenantId of await tenantsWithDueRows(database, queue)) queues[queue].wake(tenantId);
  }
}
