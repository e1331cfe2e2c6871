import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { runQueue } from '@glovebox/reactors';
import { describeError } from '@glovebox/service-host';
import type { WorkerContext } from '../context';
import type { FairQueue } from '../fair-queue';

const remindersAtOnceMax = 50;

/**
 * Takes reminders off their queue. A reminder names a tenant; what happens is decided by its rows.
 * They are looked for when the reminder has left Redis: every run whose own reminder was one too many
 * is found then.
 */
export async function startConsumer(
  ctx: WorkerContext,
  runs: Pick<FairQueue<unknown>, 'wake'>,
): Promise<{ stop(): Promise<void> }> {
  const connection = new Redis(ctx.config.REDIS_URL.reveal(), { maxRetriesPerRequest: null });
  connection.on('error', (error) => {
    ctx.logger.warn({ error: describeError(error) }, 'Redis is not reachable');
  });
  await refuseEviction(connection);

  const worker = new Worker<{ tenantId?: string }>(runQueue.name, () => Promise.resolve(), {
    connection,
    prefix: runQueue.prefix,
    concurrency: remindersAtOnceMax,
  });
  worker.on('completed', ({ data: { tenantId } }) => {
    // Releases before this one named a run instead; the sweeper finds its row.
    if (tenantId !== undefined) runs.wake(tenantId);
  });
  worker.on('error', (error) => {
    ctx.logger.warn({ error: describeError(error) }, 'a consumer failed');
  });
  return {
    async stop() {
      await worker.close();
      connection.disconnect();
    },
  };
}

const answerMs = 2_000;

/**
 * A Redis that evicts keys loses reminders silently: better not to start. One that is away is not
 * waited for: the rows are found without it.
 */
async function refuseEviction(redis: Redis): Promise<void> {
  const noAnswer = AbortSignal.timeout(answerMs);
  const asked = redis.config('GET', 'maxmemory-policy').catch(() => []);
  const late = new Promise<string[]>((resolve) => {
    noAnswer.addEventListener('abort', () => resolve([]), { once: true });
  });
  const [, policy] = (await Promise.race([asked, late])) as string[];
  if (policy !== undefined && policy !== 'noeviction') {
    throw new Error(`Redis evicts keys (maxmemory-policy ${policy}); the queues need noeviction`);
  }
}
