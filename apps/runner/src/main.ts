import { createLogger, runService, startOpsServer } from '@glovebox/service-host';
import { readConfig } from './config';
import { createContext } from './context';
import { describeLevel } from './process/isolation-levels';
import { startServer } from './serving/server';

void runService({
  logger: createLogger({ app: 'runner', level: 'info' }),
  async start(stopping) {
    const config = readConfig(process.env, __dirname);
    const ctx = await createContext(config);
    const server = await startServer(ctx);
    const ops = await startOpsServer({
      host: config.host,
      port: config.opsPort,
      ready: () => {
        const sandbox = ctx.pool.isWorking ? describeLevel(ctx) : 'down';
        return Promise.resolve({ ready: ctx.isReady(), components: { sandbox } });
      },
      metrics: () => ctx.registry.metrics(),
      stopping,
    });
    const inspector = await ctx.inspections?.listen(config.inspectPort ?? 0);
    ctx.logger.info({ listen: server.address, ops: ops.port, inspector }, 'listening');
    return {
      stopDelayMs: config.stopDelayMs,
      async stop() {
        await server.close();
        await ctx.stop();
        await ops.close();
      },
    };
  },
});
