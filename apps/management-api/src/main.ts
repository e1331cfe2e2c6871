import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  closeServer,
  createLogger,
  readiness,
  runService,
  startOpsServer,
  watchServer,
} from '@glovebox/service-host';
import { watchSchema } from '@glovebox/stores';
import { createApp } from './app.module';
import { loadManagementConfig } from './config';
import { createManagementContext, type ManagementContext } from './context';
import { listenForConsole } from './console/console-server';
import { managementReadiness } from './health';

/** Where a server listens, also where the system has chosen. */
const portOf = (server: Server | undefined): number | undefined =>
  (server?.address() as AddressInfo | undefined)?.port;

void runService({
  logger: createLogger({ app: 'management-api', level: 'info' }),
  start: async (stopping) => {
    const config = loadManagementConfig(process.env);
    const schema = watchSchema('management-api', config);
    let ctx: ManagementContext | undefined;
    let server: Server | undefined;
    // Starts before the schema is known and the definitions are loaded: it reports liveness and
    // progress.
    const ops = await startOpsServer({
      host: config.HOST,
      port: config.OPS_PORT,
      ready: () =>
        ctx ? managementReadiness(ctx) : readiness({ needed: { schema: schema.state } }),
      metrics: async () => ctx?.registry.metrics() ?? '',
      isServing: () => server?.listening === true,
      stopping,
    });
    await schema.known();
    ctx = await createManagementContext(config, schema);
    const app = await createApp(ctx);
    server = app.getHttpServer();
    await ctx.sealer.requireMasterKeys();
    await ctx.definitions.start();
    watchServer(server);
    await app.listen(config.PORT, config.HOST);
    server.requestTimeout = 60_000;
    server.headersTimeout = 20_000;
    server.keepAliveTimeout = 75_000;
    const consoleServer = await listenForConsole(app, config);
    const [port, consolePort] = [server, consoleServer].map((each) => portOf(each));
    const ports = { port, ops: ops.port, consolePort };
    ctx.egress.addOwnServices(
      config.HOST,
      Object.values(ports).filter((each) => each !== undefined),
    );
    ctx.logger.info(ports, 'listening');
    return {
      stopDelayMs: config.STOP_DELAY_MS,
      async stop() {
        ctx.webhookNews.close();
        await Promise.all([server, consoleServer].map((each) => each && closeServer(each)));
        await ctx.close();
        await ops.close();
      },
    };
  },
});
