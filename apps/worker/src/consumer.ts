import { Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { connectRedis } from '@glovebox/redis';
import { runQueue } from '@glovebox/runs';
import { describeError } from '@glovebox/service-host';
import type { WorkerContext } from './context';
import type { FairQueue } from './fair-queue';

const remindersAtOnceMax = 50;

/**
 * Takes reminders off their queue. A reminder names a tenant, whose rows decide what happens. The
 * tenant is woken when its reminder has left Redis. Runs whose own reminder was ignored beside that
 * one are found then.
 */
export async function startConsumer(
  ctx: WorkerContext,
  runs: Pick<FairQueue<unknown>, 'wake'>,
): Promise<{ stop(): Promise<void> }> {
  const connection = connectRedis(ctx.config, {
    maxRetriesPerRequest: null,
    // Longer than a command that waits for reminders.
    socketTimeout: 30_000,
  });
  connection.on('error', (error) => {
    ctx.logger.warn({ error: describeError(error) }, 'Redis is not reachable');
  });
  await refuseEviction(connection);

  const worker = new Worker<unknown>(runQueue.name, () => Promise.resolve(), {
    connection,
    prefix: runQueue.prefix,
    concurrency: remindersAtOnceMax,
  });
  worker.on('completed', ({ data }) => {
    const tenantId = tenantOf(data);
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

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Undefined: it is no reminder of ours. The sweep finds every row. */
function tenantOf(data: unknown): string | undefined {
  const { tenantId } = (data ?? {}) as { readonly tenantId?: unknown };
  return typeof tenantId === 'string' && uuid.test(tenantId) ? tenantId : undefined;
}

const answerMs = 2_000;

/**
 * Refuses to start with a Redis that evicts keys, because it loses reminders silently. A Redis that
 * is away is not waited for: the sweeper finds the rows without it.
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
