import { takeRun, type TakenRun } from '@glovebox/reactors';
import { describeError } from '@glovebox/service-host';
import type { WorkerContext } from './context';
import {
  deliverWebhook,
  receiverDeliveriesMax,
  takeDelivery,
  type TakenDelivery,
} from './deliver-webhook';
import { executeRun } from './execute-run';
import { FairQueue } from './fair-queue';

const onFault =
  ({ logger }: WorkerContext, what: string) =>
  (error: unknown): void =>
    logger.warn({ error: describeError(error) }, what);

export function queueOfRuns(
  ctx: WorkerContext,
  deliveries: Pick<FairQueue<TakenDelivery>, 'wake'>,
): FairQueue<TakenRun> {
  return new FairQueue({
    places: ctx.config.RUN_CONCURRENCY,
    claim: (tenantId) => takeRun(ctx.database.of(tenantId), tenantId),
    async work(run) {
      const ending = await executeRun(ctx, run);
      deliveries.wake(run.tenantId);
      return ending;
    },
    onFault: onFault(ctx, 'a run failed'),
  });
}

export function queueOfDeliveries(ctx: WorkerContext): FairQueue<TakenDelivery> {
  const underWay = new Map<string, number>();
  const count = (receiver: string): number => underWay.get(receiver) ?? 0;
  const queue = new FairQueue<TakenDelivery>({
    places: ctx.config.DELIVERY_CONCURRENCY,
    async claim(tenantId) {
      const full = [...underWay.keys()].filter((one) => count(one) >= receiverDeliveriesMax);
      const taken = await takeDelivery(ctx.database.of(tenantId), tenantId, full);
      if (taken) underWay.set(taken.receiver, count(taken.receiver) + 1);
      return taken;
    },
    async work(taken) {
      const { receiver, tenantId } = taken;
      try {
        await deliverWebhook(ctx, taken);
      } finally {
        const left = count(receiver) - 1;
        if (left > 0) underWay.set(receiver, left);
        else underWay.delete(receiver);
        // It was passed over as long as it had all that it may have.
        if (left === receiverDeliveriesMax - 1) queue.wake(tenantId);
      }
      return 'done';
    },
    onFault: onFault(ctx, 'a delivery failed'),
  });
  return queue;
}
