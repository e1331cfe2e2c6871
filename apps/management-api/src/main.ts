import { closeServer, createLogger, runService, startOpsServer } from '@glovebox/service-host';
import { createApp } from './app.module';
import { loadManagementConfig } from './config';
import { createManagementContext } from './context';
import { managementReadiness } from './health';

void runService({
  logger: createLogger({ app: 'management-api', level: 'info' }),
  start: async () => {
    const config = loadManagementConfig(process.env);
    const ctx = await createManagementContext(config);
    await ctx.sealer.requireMasterKeys();
    await ctx.definitions.start();
    const app = await createApp(ctx);
    await app.listen(config.PORT, config.HOST);
    const server = app.getHttpServer();
    server.requestTimeout = 60_000;
    server.headersTimeout = 20_000;
    server.keepAliveTimeout = 75_000;
    const ops = await startOpsServer({
      host: config.HOST,
      port: config.OPS_PORT,
      ready: () => managementReadiness(ctx),
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
