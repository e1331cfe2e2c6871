import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
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
  readonly ports: Ports;
}

/** Where the process listens, also where the system has chosen. */
interface Ports {
  readonly port: number;
  readonly ops: number;
  readonly forwardPort: number | undefined;
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
  const forwardServer = config.FORWARD_PORT === undefined ? null : createForwardServer(ctx);
  await ctx.sealer.requireMasterKeys();
  await ctx.definitions.start();
  ctx.egress.addOwnServices(config.HOST, [ops.port]);
  // The process is ready once its public port listens, so that comes last.
  const forwardPort = forwardServer
    ? await listen(ctx, forwardServer, config.FORWARD_PORT)
    : undefined;
  const ports = { port: await listen(ctx, server, config.PORT), ops: ops.port, forwardPort };
  ctx.logger.info(ports, 'listening');
  return {
    ctx,
    server,
    forwardServer,
    ports,
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

async function listen(
  { config, egress }: GatewayContext,
  server: Server,
  wanted: number | undefined,
): Promise<number> {
  server.listen(wanted, config.HOST);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  egress.addOwnServices(config.HOST, [port]);
  return port;
}
