import { askResolvers, createEgress, egressPolicyOf, findOpenWays } from '@glovebox/egress';
import { askRunners } from '@glovebox/sandbox';
import { runDoctor } from '@glovebox/service-host';
import { Shares } from '@glovebox/shares';
import { redisServices } from '@glovebox/store-urls';
import { checkStores } from '@glovebox/stores';
import { loadWorkerConfig } from './config';

void runDoctor({
  app: 'worker',
  args: process.argv.slice(2),
  examine() {
    const config = loadWorkerConfig(process.env);
    const own = [config.DATABASE_URL.reveal(), ...redisServices(config), ...config.RUNNER_URLS];
    const egress = createEgress(egressPolicyOf(config, own), {
      lookups: new Shares({ places: 8 }),
    });
    const { checks, close } = checkStores('worker', config);
    return Promise.resolve({
      ops: config,
      close,
      checks: [
        ...checks,
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
