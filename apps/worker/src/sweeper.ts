import type { WorkerContext } from './context';
import { takeBackPlaces } from './deliveries/claim-delivery';
import { tenantsWithDueRows } from './due-tenants';
import type { FairQueue } from './fair-queue';
import { takeBackSilentRuns } from './runs/run-rows';

/** The queues of a worker, of which a sweep only wakes tenants. */
interface Woken {
  readonly runs: Pick<FairQueue<unknown>, 'wake'>;
  readonly deliveries: Pick<FairQueue<unknown>, 'wake'>;
}

/**
 * Wakes the tenants that have due rows: rows whose reminder was lost with Redis, runs of workers
 * that died, webhooks whose next attempt is due. No promise therefore depends on Redis.
 */
export async function sweep(
  { database, metrics }: Pick<WorkerContext, 'database' | 'metrics'>,
  { runs, deliveries }: Woken,
): Promise<void> {
  metrics.takenBack('runs', await takeBackSilentRuns(database));
  metrics.takenBack('deliveries', await takeBackPlaces(database));
  for (const tenantId of await tenantsWithDueRows(database, 'reactor_runs')) runs.wake(tenantId);
  for (const tenantId of await tenantsWithDueRows(database, 'webhook_deliveries')) {
    deliveries.wake(tenantId);
  }
}
