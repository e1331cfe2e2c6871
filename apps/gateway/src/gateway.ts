import { once } from 'node:events';
import type { Server } from 'node:http';
import { closeServer, startOpsServer, type Service } from '@glovebox/service-host';
import type { GatewayConfig } from './config';
import { createGatewayContext, type GatewayContext, type GatewayParts } from './context';
import { gatewayReadiness } from './health';
import { createGatewayServer } from './server';

export interface Gateway extends Service {
  readonly ctx: GatewayContext;
  readonly server: Server;
}

/** The whole process but its signals: context, definitions, public port, ops port. */
export async function startGateway(config: GatewayConfig, parts: GatewayParts): Promise<Gateway> {
  const ctx = await createGatewayContext(config, parts);
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
    stopping: parts.stopping,
  });
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
