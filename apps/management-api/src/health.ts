import { readiness, readinessWithinMs, upOrDown, type Readiness } from '@glovebox/service-host';
import type { ManagementContext } from './context';

/** The readiness of this process alone. Without Redis it serves, a little slower. */
export const managementReadiness = ({
  schema,
  definitions,
  sealer,
  dataSource,
}: ManagementContext): Promise<Readiness> =>
  readiness({
    needed: {
      schema: schema.state,
      definitions: async () =>
        definitions.follower.loading ?? upOrDown(() => definitions.follower.current()),
      keys: () => sealer.masterKeys(readinessWithinMs),
      postgres: () => upOrDown(() => dataSource.query('SELECT 1')),
    },
    others: { redis: () => upOrDown(() => definitions.redis.ping()) },
  });
