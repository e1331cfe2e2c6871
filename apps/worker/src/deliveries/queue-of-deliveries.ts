import { describeError } from '@glovebox/service-host';
import type { WorkerContext } from '../context';
import { FairQueue } from '../fair-queue';
import { claimDeliveries, type ClaimedDelivery } from './claim-deliveries';
import { deliverWebhook } from './deliver-webhook';

/** The webhooks that are due, as far as their receivers have places for them. */
export function queueOfDeliveries(ctx: WorkerContext): FairQueue<ClaimedDelivery> {
  /** Tenants of which a claim may have passed over a full receiver. */
  const heldUp = new Set<string>();
  const queue = new FairQueue<ClaimedDelivery>({
    places: ctx.config.DELIVERY_CONCURRENCY,
    // Two claims of several places would wait for each other where each has one that both want.
    claimedAtOnce: 1,
    async claim(tenantId, atMost) {
      // A place that becomes free during the claim may come too late for it.
      heldUp.add(tenantId);
      const claimed = await claimDeliveries(ctx.database.of(tenantId), tenantId, atMost);
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
