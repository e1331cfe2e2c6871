import type { Sql } from '@glovebox/database';
import { countedRowsMax, depthOf, type QueueDepth, type QueueName } from '@glovebox/runs';
import { Gauge, type Registry } from '@glovebox/service-host';

/** A depth is read again after this time at the earliest, however often somebody looks. */
const freshMs = 5_000;

const queues = ['runs', 'deliveries'] as const;

/** Observes what waits in Postgres. All workers see the same. While it is away they show nothing. */
export function observeQueueDepths(registry: Registry, sql: Sql): void {
  let readAt = -Infinity;
  let reading = Promise.resolve<readonly (readonly [queue: QueueName, depth: QueueDepth])[]>([]);
  const depths = (): typeof reading => {
    if (performance.now() - readAt >= freshMs) {
      readAt = performance.now();
      const reads = queues.map(async (queue) => [queue, await depthOf(sql, queue)] as const);
      reading = Promise.all(reads).catch(() => []);
    }
    return reading;
  };
  new Gauge({
    name: 'glovebox_worker_queue_rows',
    help: `Rows that wait, of all workers; ${countedRowsMax}: or more`,
    labelNames: ['queue', 'state'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const [queue, { due, later, held }] of await depths()) {
        this.set({ queue, state: 'due' }, due);
        this.set({ queue, state: 'later' }, later);
        this.set({ queue, state: 'held' }, held);
      }
    },
  });
  new Gauge({
    name: 'glovebox_worker_queue_oldest_due_seconds',
    help: 'How long the oldest row has been due, of all workers',
    labelNames: ['queue'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const [queue, { oldestDueSeconds }] of await depths()) {
        this.set({ queue }, oldestDueSeconds);
      }
    },
  });
}
