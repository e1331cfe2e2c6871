import { describeError } from '@glovebox/service-host';
import type { WorkerContext } from '../context';
import { FairQueue } from '../fair-queue';
import { executeRun } from './execute-run';
import { claimRuns, type ClaimedRun } from './run-rows';

/** Runs of a tenant that one claim takes. */
const runsClaimedAtOnceMax = 10;

/** The runs that are due. The end of a run wakes its tenant in the queue of webhooks. */
export function queueOfRuns(
  ctx: WorkerContext,
  deliveries: Pick<FairQueue<unknown>, 'wake'>,
): FairQueue<ClaimedRun> {
  return new FairQueue({
    places: ctx.config.RUN_CONCURRENCY,
    claimedAtOnce: runsClaimedAtOnceMax,
    claim: (tenantId, atMost) => claimRuns(ctx.database.shareOf(tenantId), tenantId, atMost),
    async work(run) {
      const ending = await executeRun(ctx, run);
      deliveries.wake(run.tenantId);
      return ending;
    },
    onFault: (error) => ctx.logger.warn({ error: describeError(error) }, 'a run failed'),
  });
}
