import { askResolvers, createEgress, egressPolicyOf, findOpenWays } from '@glovebox/egress';
import { askRunners } from '@glovebox/sandbox';
import { fault, ok, runDoctor } from '@glovebox/service-host';
import { Shares } from '@glovebox/shares';
import { redisServices } from '@glovebox/store-urls';
import { checkStores } from '@glovebox/stores';
import { loadGatewayConfig } from './config';

void runDoctor({
  app: 'gateway',
  args: process.argv.slice(2),
  examine() {
    const config = loadGatewayConfig(process.env);
    const own = [
      config.DATABASE_URL.reveal(),
      ...redisServices(config),
      config.MANAGEMENT_URL,
      ...config.RUNNER_URLS,
    ];
    const egress = createEgress(egressPolicyOf(config, own), {
      lookups: new Shares({ places: 8 }),
    });
    const { checks, close } = checkStores('gateway', config);
    const managementHealth = new URL('/health/live', config.MANAGEMENT_URL);
    return Promise.resolve({
      ops: config,
      close,
      checks: [
        ...checks,
        {
          name: 'management API',
          run: (signal) =>
            fetch(managementHealth, { signal }).then(
              () => ok(`answers at ${managementHealth.host}`),
              () =>
                fault(
                  `does not answer at ${managementHealth.host}`,
                  'Check that it runs, MANAGEMENT_URL, and that the network lets the gateway through',
                ),
            ),
        },
        {
          name: 'runners',
          run: () => askRunners(config.RUNNER_URLS, config.RUNNER_SECRET.reveal()),
        },
        { name: 'egress', run: (signal) => findOpenWays(egress, own, signal) },
        { name: 'names', run: (signal) => askResolvers(egress, signal) },
      ],
    });
  },
});
