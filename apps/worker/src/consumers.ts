import { Worker, type Job } from 'bullmq';
import { Redis } from 'ioredis';
import { runQueue } from '@glovebox/reactors';
import { describeError } from '@glovebox/service-host';
import type { WorkerContext } from './context';
import { deliveryQueue, deliverWebhook } from './deliver-webhook';
import { executeRun } from './execute-run';

/** Takes jobs off the two queues. A job is a reminder: what happens is decided by its row. */
export async function startConsumers(ctx: WorkerContext): Promise<{ stop(): Promise<void> }> {
  const connection = new Redis(ctx.config.REDIS_URL.reveal(), { maxRetriesPerRequest: null });
  connection.on('error', (error) => {
    ctx.logger.warn({ error: describeError(error) }, 'Redis is not reachable');
  });
  await refuseEviction(connection);

  const consume = <Data>(
    { name, prefix }: typeof runQueue | typeof deliveryQueue,
    concurrency: number,
    work: (data: Data) => Promise<void>,
  ): Worker => {
    const worker = new Worker(name, (job: Job<Data>) => work(job.data), {
      connection,
      prefix,
      concurrency,
    });
    worker.on('failed', (_job, error) => {
      ctx.logger.warn({ queue: name, error: describeError(error) }, 'a job failed');
    });
    worker.on('error', (error) => {
      ctx.logger.warn({ queue: name, error: describeError(error) }, 'a consumer failed');
    });
    return worker;
  };
  const workers = [
    consume<{ runId: string }>(runQueue, ctx.config.RUN_CONCURRENCY, ({ runId }) =>
      executeRun(ctx, runId),
    ),
    consume<{ deliveryId: string }>(
      deliveryQueue,
      ctx.config.DELIVERY_CONCURRENCY,
      ({ deliveryId }) => deliverWebhook(ctx, deliveryId),
    ),
  ];
  return {
    async stop() {
      await Promise.all(workers.map((worker) => worker.close()));
      connection.disconnect();
    },
  };
}

/** A Redis that evicts keys loses jobs silently: better not to start. */
async function refuseEviction(redis: Redis): Promise<void> {
  const [, policy] = (await redis.config('GET', 'maxmemory-policy').catch(() => [])) as string[];
  if (policy !== undefined && policy !== 'noeviction') {
    throw new Error(`Redis evicts keys (maxmemory-policy ${policy}); the queues need noeviction`);
  }
}
