import { describeError } from '@glovebox/service-host';
import type { WorkerContext } from '../context';
import { FairQueue } from '../fair-queue';
import { deliverWebhook } from './deliver-webhook';
import { claimDelivery, type ClaimedDelivery } from './delivery-rows';

/** How many webhooks of a tenant one host may get at the same time. */
export const receiverDeliveriesMax = 10;

/** The webhooks that are due, at most `receiverDeliveriesMax` at once to each receiver. */
export function queueOfDeliveries(ctx: WorkerContext): FairQueue<ClaimedDelivery> {
  const underWay = new Map<string, number>();
  const count = (receiver: string): number => underWay.get(receiver) ?? 0;
  const queue = new FairQueue<ClaimedDelivery>({
    places: ctx.config.DELIVERY_CONCURRENCY,
    async claim(tenantId) {
      const full = [...underWay.keys()].filter((one) => count(one) >= receiverDeliveriesMax);
      const claimed = await claimDelivery(ctx.database.of(tenantId), tenantId, full);
      if (claimed) underWay.set(claimed.receiver, count(claimed.receiver) + 1);
      return claimed;
    },
    async work(claimed) {
      const { receiver, tenantId } = claimed;
      try {
        await deliverWebhook(ctx, claimed);
      } finally {
        const left = count(receiver) - 1;
        if (left > 0) underWay.set(receiver, left);
        else underWay.delete(receiver);
        // The receiver was passed over while it was full.
        if (left === receiverDeliveriesMax - 1) queue.wake(tenantId);
      }
      return 'done';
    },
    onFault: (error) => ctx.logger.warn({ error: describeError(error) }, 'a delivery failed'),
  });
  return queue;
}
