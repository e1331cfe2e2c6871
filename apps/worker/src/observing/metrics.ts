import type { Attempt, QueueName, ReleaseReason, RunRecord, Verdict } from '@glovebox/runs';
import { Counter, Histogram, type Registry } from '@glovebox/service-host';

export interface WorkerMetrics {
  /** A run has ended, and its record and its webhook are committed. */
  runEnded(record: RunRecord, queuedMs: number): void;
  runReleased(reason: ReleaseReason): void;
  attempted(attempt: Attempt): void;
  /** A webhook has ended. Its run was accepted that long ago, unless the webhook is sent again. */
  deliveryEnded(verdict: Exclude<Verdict, { kind: 'retry' }>, acceptedMsAgo?: number): void;
  /** This worker held a claim that another one has by now, and wrote nothing. */
  fenced(queue: QueueName): void;
  /** Claims of workers that fell silent were taken back by this one. */
  takenBack(queue: QueueName, count: number): void;
}

const runBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 210];
const queueBuckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200];
const attemptBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/** No label names a tenant or a host: their number has no bound. */
export function createMetrics(registry: Registry): WorkerMetrics {
  const registers = [registry];
  const runs = new Counter({
    name: 'glovebox_worker_runs_total',
    help: 'Async runs that have ended, by outcome: completed or the code of the error',
    labelNames: ['outcome'],
    registers,
  });
  const runSeconds = new Histogram({
    name: 'glovebox_worker_run_seconds',
    help: 'Async runs that have ended, from the claim to the result',
    buckets: runBuckets,
    registers,
  });
  const runQueuedSeconds = new Histogram({
    name: 'glovebox_worker_run_queued_seconds',
    help: 'The time that async runs waited, from the acceptance to the start of their code',
    buckets: queueBuckets,
    registers,
  });
  const released = new Counter({
    name: 'glovebox_worker_runs_released_total',
    help: 'Runs that went back into the queue before their code started; later: no capacity or store',
    labelNames: ['reason'],
    registers,
  });
  const attemptSeconds = new Histogram({
    name: 'glovebox_worker_delivery_attempt_seconds',
    help: 'Attempts to deliver a webhook, by outcome',
    labelNames: ['outcome'],
    buckets: attemptBuckets,
    registers,
  });
  const deliveries = new Counter({
    name: 'glovebox_worker_deliveries_total',
    help: 'Webhooks that have ended, by status and by the outcome of the last attempt',
    labelNames: ['status', 'outcome'],
    registers,
  });
  const deliverySeconds = new Histogram({
    name: 'glovebox_worker_delivery_seconds',
    help: 'Delivered webhooks, from the acceptance of the run; without those that are sent again',
    buckets: queueBuckets,
    registers,
  });
  const fenced = new Counter({
    name: 'glovebox_worker_fenced_total',
    help: 'Claims whose end was dropped because another worker had claimed the row meanwhile',
    labelNames: ['queue'],
    registers,
  });
  const takenBack = new Counter({
    name: 'glovebox_worker_taken_back_total',
    help: 'Claims of workers that fell silent: runs, and places of webhooks',
    labelNames: ['queue'],
    registers,
  });
  // Alerts have figures before there is anything to alert about.
  for (const outcome of ['run_interrupted', 'internal_error']) runs.inc({ outcome }, 0);
  for (const reason of ['later', 'fault'] as const) released.inc({ reason }, 0);
  for (const outcome of ['timed_out', 'unreachable']) attemptSeconds.zero({ outcome });
  for (const queue of ['runs', 'deliveries']) {
    fenced.inc({ queue }, 0);
    takenBack.inc({ queue }, 0);
  }
  return {
    runEnded({ outcome, durationMs }, queuedMs) {
      runs.inc({ outcome });
      runSeconds.observe(durationMs / 1_000);
      runQueuedSeconds.observe(queuedMs / 1_000);
    },
    runReleased: (reason) => released.inc({ reason }),
    attempted: ({ outcome, ms }) => attemptSeconds.observe({ outcome }, ms / 1_000),
    deliveryEnded(verdict, acceptedMsAgo) {
      const status = verdict.kind === 'delivered' ? 'delivered' : 'failed';
      const outcome = verdict.kind === 'given_up' ? verdict.reason : verdict.attempt.outcome;
      deliveries.inc({ status, outcome });
      if (status === 'delivered' && acceptedMsAgo !== undefined) {
        deliverySeconds.observe(acceptedMsAgo / 1_000);
      }
    },
    fenced: (queue) => fenced.inc({ queue }),
    takenBack: (queue, count) => takenBack.inc({ queue }, count),
  };
}
