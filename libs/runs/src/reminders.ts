import type { Queue } from 'bullmq';

/** The queue that reminds workers of tenants with due rows. Rows decide; jobs may be lost. */
export const runQueue = {
  name: 'runs',
  prefix: '{glovebox}',
  options: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
} as const;

/** The sign of life of the workers. Nobody calls a worker, so nobody would notice that all died. */
export const workerAliveKey = '{glovebox}:worker:alive';

/**
 * Reminds a worker that the tenant has a due run. The job id is the tenant's id, so there is one
 * job however many runs wait. The job leaves Redis before its worker looks for rows. The look
 * therefore finds every run whose own reminder met that job and was ignored.
 */
export async function remindOfRuns(queue: Queue, tenantId: string): Promise<void> {
  await queue.add('due', { tenantId }, { jobId: tenantId });
}
