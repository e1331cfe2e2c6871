import { once } from 'node:events';
import type { Server } from 'node:http';
import { closeServer, readiness, startOpsServer, type Service } from '@glovebox/service-host';
import { watchSchema } from '@glovebox/stores';
import type { GatewayConfig } from './config';
import { createGatewayContext, type GatewayContext, type GatewayParts } from './context';
import { gatewayReadiness } from './health';
import { createForwardServer } from './forward/forward-server';
import { createGatewayServer } from './server';

interface Gateway extends Service {
  readonly ctx: GatewayContext;
  readonly server: Server;
  /** Null unless FORWARD_PORT is set. */
  readonly forwardServer: Server | null;
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
  const { FORWARD_PORT: forwardPort } = config;
  const forwardServer = forwardPort === undefined ? null : createForwardServer(ctx);
  await ctx.sealer.requireMasterKeys();
  await ctx.definitions.start();
  // The process is ready once its public port listens, so that comes last.
  if (forwardServer) await listen(forwardServer, forwardPort, config.HOST);
  await listen(server, config.PORT, config.HOST);
  ctx.logger.info({ port: config.PORT, forwardPort }, 'listening');
  return {
    ctx,
    server,
    forwardServer,
    stopDelayMs: config.STOP_DELAY_MS,
    async stop() {
      const closed = [server, ...(forwardServer ? [forwardServer] : [])].map((each) =>
        closeServer(each),
      );
      ctx.tunnels.end();
      await Promise.all(closed);
      await ctx.close();
      await ops.close();
    },
  };
}

async function listen(server: Server, port: number | undefined, host: string): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening');
}
