import { createLogger, runService, startOpsServer } from '@glovebox/service-host';
import { loadWorkerConfig } from './config';
import { createWorkerContext } from './context';
import { workerReadiness } from './health';
import { startWorker } from './worker';

void runService({
  logger: createLogger({ app: 'worker', level: 'info' }),
  start: async (stopping) => {
    const config = loadWorkerConfig(process.env);
    const ctx = await createWorkerContext(config);
    // Before the definitions, whose loading may take a while: meanwhile readiness reports progress.
    const ops = await startOpsServer({
      host: config.HOST,
      port: config.OPS_PORT,
      ready: () => workerReadiness(ctx),
      metrics: () => ctx.registry.metrics(),
      stopping,
    });
    await ctx.sealer.requireMasterKeys();
    await ctx.definitions.start();
    const worker = await startWorker(ctx);
    ctx.logger.info({}, 'consuming');
    return {
      async stop() {
        await worker.stop();
        await ctx.close();
        await ops.close();
      },
    };
  },
});
