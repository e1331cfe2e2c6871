import { createLogger, readiness, runService, startOpsServer } from '@glovebox/service-host';
import { watchSchema } from '@glovebox/stores';
import { loadWorkerConfig } from './config';
import { createWorkerContext, type WorkerContext } from './context';
import { workerReadiness } from './health';
import { startWorker } from './worker';

void runService({
  logger: createLogger({ app: 'worker', level: 'info' }),
  start: async (stopping) => {
    const config = loadWorkerConfig(process.env);
    const schema = watchSchema('worker', config);
    let ctx: WorkerContext | undefined;
    // Before the schema and the definitions, which may take a while: readiness reports progress.
    const ops = await startOpsServer({
      host: config.HOST,
      port: config.OPS_PORT,
      ready: () => (ctx ? workerReadiness(ctx) : readiness({ needed: { schema: schema.state } })),
      metrics: async () => ctx?.registry.metrics() ?? '',
      stopping,
    });
    await schema.known();
    ctx = await createWorkerContext(config, schema);
    ctx.egress.addOwnServices(config.HOST, [ops.port]);
    await ctx.sealer.requireMasterKeys();
    await ctx.definitions.start();
    const worker = await startWorker(ctx);
    ctx.logger.info({ ops: ops.port }, 'consuming');
    return {
      async stop() {
        await worker.stop();
        await ctx.close();
        await ops.close();
      },
    };
  },
});
