import {
  closeServer,
  createLogger,
  runService,
  startOpsServer,
  watchServer,
} from '@glovebox/service-host';
import { createApp } from './app.module';
import { loadManagementConfig } from './config';
import { createManagementContext } from './context';
import { managementReadiness } from './health';

void runService({
  logger: createLogger({ app: 'management-api', level: 'info' }),
  start: async (stopping) => {
    const config = loadManagementConfig(process.env);
    const ctx = await createManagementContext(config);
    const app = await createApp(ctx);
    const server = app.getHttpServer();
    // Starts before the definitions load, which may take a while: it reports liveness and progress.
    const ops = await startOpsServer({
      host: config.HOST,
      port: config.OPS_PORT,
      ready: () => managementReadiness(ctx),
      metrics: () => ctx.registry.metrics(),
      serving: server,
      stopping,
    });
    await ctx.sealer.requireMasterKeys();
    await ctx.definitions.start();
    watchServer(server);
    await app.listen(config.PORT, config.HOST);
    server.requestTimeout = 60_000;
    server.headersTimeout = 20_000;
    server.keepAliveTimeout = 75_000;
    ctx.logger.info({ port: config.PORT }, 'listening');
    return {
      stopDelayMs: config.STOP_DELAY_MS,
      async stop() {
        await closeServer(server);
        await ctx.close();
        await ops.close();
      },
    };
  },
});
