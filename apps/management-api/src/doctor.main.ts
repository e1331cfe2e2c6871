import { runDoctor } from '@glovebox/service-host';
import { checkStores } from '@glovebox/stores';
import { loadManagementConfig } from './config';
import { findSchema } from './database/find-schema';

void runDoctor({
  app: 'management-api',
  args: process.argv.slice(2),
  examine() {
    const config = loadManagementConfig(process.env);
    const { checks, close } = checkStores('management-api', config);
    const schema = { name: 'schema', run: () => findSchema(config.DATABASE_URL.reveal()) };
    return Promise.resolve({ ops: config, checks: [...checks, schema], close });
  },
});
