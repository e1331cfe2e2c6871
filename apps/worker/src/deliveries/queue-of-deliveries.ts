import { describeError } from '@glovebox/service-host';
import type { WorkerContext } from '../context';
import { FairQueue } from '../fair-queue';
import { claimDelivery, type ClaimedDelivery } from './claim-delivery';
import { deliverWebhook } from './deliver-webhook';

/** The webhooks that are due, as far as their receivers have places for them. */
export function queueOfDeliveries(ctx: WorkerContext): FairQueue<ClaimedDelivery> {
  /** Tenants of which a claim may have passed over a full receiver. */
  const heldUp = new Set<string>();
  const queue = new FairQueue<ClaimedDelivery>({
    places: ctx.config.DELIVERY_CONCURRENCY,
    claimedAtOnce: 1,
    async claim(tenantId) {
      // A place that becomes free during the claim may come too late for it.
      heldUp.add(tenantId);
      const claimed = await claimDelivery(ctx.database.shareOf(tenantId), tenantId);
      if (claimed === 'full') return [];
      heldUp.delete(tenantId);
      return claimed ? [claimed] : [];
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
