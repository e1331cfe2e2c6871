import { createLogger, runService } from '@glovebox/service-host';
import { loadGatewayConfig } from './config';
import { startGateway } from './gateway';

void runService({
  logger: createLogger({ app: 'gateway', level: 'info' }),
  start: (stopping) => startGateway(loadGatewayConfig(process.env), { stopping }),
});
