import { waitingLines, workerAliveKey } from '@glovebox/reactors';
import { observeShares } from '@glovebox/shares';
import { createBackground } from './background';
import type { WorkerContext } from './context';
import { queueOfDeliveries } from './deliveries/queue-of-deliveries';
import { startHousekeeping } from './housekeeping/housekeeping';
import { observeQueueDepths } from './observing/queue-depths';
import { startConsumer } from './runs/consumer';
import { queueOfRuns } from './runs/queue-of-runs';
import { sweep } from './sweeper';

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
