import { once } from 'node:events';
import type { Server } from 'node:http';
import { closeServer, readiness, startOpsServer, type Service } from '@glovebox/service-host';
import { watchSchema } from '@glovebox/stores';
import type { GatewayConfig } from './config';
import { createGatewayContext, type GatewayContext, type GatewayParts } from './context';
import { gatewayReadiness } from './health';
import { createGatewayServer } from './server';

interface Gateway extends Service {
  readonly ctx: GatewayContext;
  readonly server: Server;
}

/** The whole process but its signals: ops port, schema, context, definitions, public port. */
export async function startGateway(config: GatewayConfig, parts: GatewayParts): Promise<Gateway> {
  const schema = watchSchema('gateway', config);
  let ctx: GatewayContext | undefined;
  let server: Server | undefined;
  // Listens before the schema is known and the definitions are loaded, so that health can be asked.
  const ops = await startOpsServer({
    host: config.HOST,
    port: config.OPS_PORT,
    ready: () => (ctx ? gatewayReadiness(ctx) : readiness({ needed: { schema: schema.state } })),
    metrics: async () => ctx?.registry.metrics() ?? '',
    isServing: () => server?.listening === true,
    stopping: parts.stopping,
  });
  await schema.known();
  ctx = await createGatewayContext(config, parts, schema);
  server = createGatewayServer(ctx);
  await ctx.sealer.requireMasterKeys();
  await ctx.definitions.start();
  server.listen(config.PORT, config.HOST);
  await once(server, 'listening');
  ctx.logger.info({ port: config.PORT }, 'listening');
  return {
    ctx,
    server,
    stopDelayMs: config.STOP_DELAY_MS,
    async stop() {
      const closed = closeServer(server);
      ctx.tunnels.end();
      await closed;
      await ctx.close();
      await ops.close();
    },
  };
}
