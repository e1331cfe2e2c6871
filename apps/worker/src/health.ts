import { readiness, readinessWithinMs, upOrDown, type Readiness } from '@glovebox/service-host';
import type { WorkerContext } from './context';

/** A worker without Postgres, Redis or a runner takes jobs that it cannot do. */
export const workerReadiness = ({
  schema,
  definitions,
  sealer,
  database,
  runner,
}: WorkerContext): Promise<Readiness> =>
  readiness({
    needed: {
      schema: schema.state,
      definitions: async () =>
        definitions.follower.loading ?? upOrDown(() => definitions.follower.current()),
      keys: () => sealer.masterKeys(readinessWithinMs),
      postgres: () => upOrDown(() => database.query('SELECT 1')),
      redis: () => upOrDown(() => definitions.redis.ping()),
      runner: () => upOrDown(() => runner.ready()),
    },
  });
