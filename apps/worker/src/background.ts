import { Counter, describeError, every, type RepeatedWork } from '@glovebox/service-host';
import type { WorkerContext } from './context';

/** The repeated work of a worker. Each work runs by itself: one that fails stops no other. */
export interface Background extends RepeatedWork {
  repeat(name: string, ms: number, work: (stopped: AbortSignal) => Promise<unknown>): void;
}

export function createBackground({
  logger,
  registry,
}: Pick<WorkerContext, 'logger' | 'registry'>): Background {
  const failures = new Counter({
    name: 'glovebox_worker_background_failures_total',
    help: 'Rounds of background work that failed, by work',
    labelNames: ['work'],
    registers: [registry],
  });
  const repeated: RepeatedWork[] = [];
  return {
    repeat(name, ms, work) {
      failures.inc({ work: name }, 0);
      const onFault = (error: unknown): void => {
        failures.inc({ work: name });
        logger.warn({ error: describeError(error), work: name }, 'background work failed');
      };
      repeated.push(every(ms, work, { onFault, atOnce: true }));
    },
    async stop() {
      await Promise.all(repeated.map((work) => work.stop()));
    },
  };
}
