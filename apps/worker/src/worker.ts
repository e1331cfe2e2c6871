import { observeShares } from '@glovebox/shares';
import { startConsumer } from './consumer';
import type { WorkerContext } from './context';
import { queueOfDeliveries, queueOfRuns } from './queues';
import { startSweeper } from './sweeper';

/** All that a worker does: its two queues, and the two that wake tenants in them. */
export async function startWorker(ctx: WorkerContext): Promise<{ stop(): Promise<void> }> {
  const deliveries = queueOfDeliveries(ctx);
  const runs = queueOfRuns(ctx, deliveries);
  observeShares(ctx.registry, {
    lookups: ctx.lookups,
    large_openings: ctx.vault.largeOpenings,
    connections: ctx.database.shares,
    token_uses: ctx.tokenUses.places,
    runs: runs.shares,
    deliveries: deliveries.shares,
  });
  const consumer = await startConsumer(ctx, runs);
  const sweeper = startSweeper(ctx, { runs, deliveries });
  return {
    async stop() {
      // Together: a consumer that waits for Redis must not let further runs begin meanwhile.
      await Promise.all([sweeper.stop(), consumer.stop(), runs.stop()]);
      await deliveries.stop();
    },
  };
}
