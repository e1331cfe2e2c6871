import { once } from 'node:events';
import type { Server } from 'node:http';
import { closeServer, startOpsServer, type Service } from '@glovebox/service-host';
import type { GatewayConfig } from './config';
import { createGatewayContext, type GatewayContext, type GatewayParts } from './context';
import { gatewayReadiness } from './health';
import { createGatewayServer } from './server';

interface Gateway extends Service {
  readonly ctx: GatewayContext;
  readonly server: Server;
}

/** The whole process but its signals: context, definitions, public port, ops port. */
export async function startGateway(config: GatewayConfig, parts: GatewayParts): Promise<Gateway> {
  const ctx = await createGatewayContext(config, parts);
  const server = createGatewayServer(ctx);
  // Listens before the definitions are loaded, which may take a while, so that health can be asked.
  const ops = await startOpsServer({
    host: config.HOST,
    port: config.OPS_PORT,
    ready: () => gatewayReadiness(ctx),
    metrics: () => ctx.registry.metrics(),
    serving: server,
    stopping: parts.stopping,
  });
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
