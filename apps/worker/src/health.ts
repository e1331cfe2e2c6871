import { readiness, readinessWithinMs, upOrDown, type Readiness } from '@glovebox/service-host';
import { definitionsState } from '@glovebox/stores';
import type { WorkerContext } from './context';

/** A worker without Postgres, Redis or a runner takes jobs that it cannot do. */
export const workerReadiness = ({
  config,
  definitions,
  sealer,
  database,
  runner,
}: WorkerContext): Promise<Readiness> =>
  readiness({
    needed: {
      definitions: () => definitionsState(definitions.follower, config),
      keys: () => sealer.masterKeys(readinessWithinMs),
      postgres: () => upOrDown(() => database.query('SELECT 1')),
      redis: () => upOrDown(() => definitions.redis.ping()),
      runner: () => upOrDown(() => runner.ready()),
    },
  });
