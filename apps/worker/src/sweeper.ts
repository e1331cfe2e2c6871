import { setTimeout as delay } from 'node:timers/promises';
import { forgottenRuns, remindOfRun, workerAliveKey } from '@glovebox/reactors';
import { describeError } from '@glovebox/service-host';
import type { WorkerContext } from './context';
import { forgottenDeliveries, remindOfDelivery } from './deliver-webhook';

const intervalMs = 1_000;
const batch = 5_000;

/**
 * Gives a job to every row that has none: jobs lost with Redis, runs of workers that died,
 * deliveries that are due. So nothing that was promised depends on Redis.
 */
export function startSweeper(ctx: WorkerContext): { stop(): Promise<void> } {
  const stopped = new AbortController();
  const loop = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await sweep(ctx).catch((error: unknown) => {
        ctx.logger.warn({ error: describeError(error) }, 'a sweep failed');
      });
      await delay(intervalMs, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  };
  const running = loop();
  return {
    async stop() {
      stopped.abort();
      await running;
    },
  };
}

async function sweep(ctx: WorkerContext): Promise<void> {
  await ctx.definitions.redis.set(workerAliveKey, process.pid, 'PX', intervalMs * 3);
  for (const run of await forgottenRuns(ctx.database, batch)) await remindOfRun(ctx.runs, run);
  for (const delivery of await forgottenDeliveries(ctx, batch)) remindOfDelivery(ctx, delivery);
}
