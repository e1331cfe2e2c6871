import { waitingLines, workerAliveKey } from '@glovebox/reactors';
import { observeShares } from '@glovebox/shares';
import { createBackground } from './background';
import type { WorkerContext } from './context';
import { queueOfDeliveries } from './deliveries/queue-of-deliveries';
import { startHousekeeping } from './housekeeping/housekeeping';
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
    large_openings: ctx.vault.largeOpenings,
    connections: ctx.database.shares,
    token_uses: ctx.tokenUses.places,
    run_lines: waitingLines,
    runs: runs.shares,
    deliveries: deliveries.shares,
  });
  const consumer = await startConsumer(ctx, runs);
  const background = createBackground(ctx);
  background.repeat('sign_of_life', sweepMs, () =>
    ctx.definitions.redis.set(workerAliveKey, process.pid, 'PX', sweepMs * 3),
  );
  background.repeat('sweep', sweepMs, () => sweep(ctx, { runs, deliveries }));
  startHousekeeping(ctx, background);
  return {
    async stop() {
      // Together: a consumer that waits for Redis must not let further runs begin meanwhile.
      await Promise.all([background.stop(), consumer.stop(), runs.stop()]);
      await deliveries.stop();
    },
  };
}
