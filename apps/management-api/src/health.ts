import { readiness, readinessWithinMs, upOrDown, type Readiness } from '@glovebox/service-host';
import { definitionsState } from '@glovebox/stores';
import type { ManagementContext } from './context';

/** The readiness of this process alone. Without Redis it serves, a little slower. */
export const managementReadiness = ({
  config,
  definitions,
  sealer,
  dataSource,
}: ManagementContext): Promise<Readiness> =>
  readiness({
    needed: {
      definitions: () => definitionsState(definitions.follower, config),
      keys: () => sealer.masterKeys(readinessWithinMs),
      postgres: () => upOrDown(() => dataSource.query('SELECT 1')),
    },
    others: { redis: () => upOrDown(() => definitions.redis.ping()) },
  });
