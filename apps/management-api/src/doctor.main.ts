import { runDoctor } from '@glovebox/service-host';
import { checkStores } from '@glovebox/stores';
import { loadManagementConfig } from './config';

void runDoctor({
  app: 'management-api',
  args: process.argv.slice(2),
  examine() {
    const config = loadManagementConfig(process.env);
    return Promise.resolve({ ops: config, ...checkStores('management-api', config) });
  },
});
