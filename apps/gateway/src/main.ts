import { once } from 'node:events';
import { closeServer, createLogger, runService, startOpsServer } from '@glovebox/service-host';
import { loadGatewayConfig } from './config';
import { createGatewayContext } from './context';
import { gatewayReadiness } from './health';
import { createGatewayServer } from './server';

void runService({
  logger: createLogger({ app: 'gateway', level: 'info' }),
  start: async () => {
    const config = loadGatewayConfig(process.env);
    const ctx = await createGatewayContext(config);
    await ctx.sealer.requireMasterKeys();
    await ctx.definitions.start();
    const server = createGatewayServer(ctx);
    server.listen(config.PORT, config.HOST);
    await once(server, 'listening');
    const ops = await startOpsServer({
      host: config.HOST,
      port: config.OPS_PORT,
      ready: () => gatewayReadiness(ctx),
      metrics: () => ctx.registry.metrics(),
    });
    ctx.logger.info({ port: config.PORT }, 'listening');
    return {
      async stop() {
        await closeServer(server);
        await ctx.close();
        await ops.close();
      },
    };
  },
});
