import { connectDatabase, type Database } from '@glovebox/database';
import type { DefinitionConnection } from '@glovebox/definitions';
import {
  createEgress,
  egressPolicyOf,
  ownServicesAt,
  hopMarkerOf,
  ownNamesBy,
  type Egress,
} from '@glovebox/egress';
import { Bundles } from '@glovebox/reactors';
import { createRunnerClient, spokenVersions, type RunnerClient } from '@glovebox/sandbox';
import type { Sealer } from '@glovebox/seal';
import {
  createLogger,
  createRegistry,
  describeError,
  type Logger,
  type Registry,
} from '@glovebox/service-host';
import { Shares } from '@glovebox/shares';
import { connectStores, observeDefinitions, watchSchema, type SchemaWatch } from '@glovebox/stores';
import { redisServices } from '@glovebox/store-urls';
import { TokenUses, Vault } from '@glovebox/vault';
import type { WorkerConfig } from './config';
import { createMetrics, type WorkerMetrics } from './observing/metrics';

/** All that a job may need, made once. */
export interface WorkerContext {
  readonly config: WorkerConfig;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly metrics: WorkerMetrics;
  readonly schema: SchemaWatch;
  readonly database: Database;
  readonly definitions: DefinitionConnection;
  readonly sealer: Sealer;
  readonly tokenUses: TokenUses;
  readonly vault: Vault;
  readonly runner: RunnerClient;
  readonly bundles: Bundles;
  readonly egress: Egress;
  /** Marks a webhook as sent by this installation. */
  readonly hopMarker: string;
  readonly lookups: Shares;
  close(): Promise<void>;
}

export async function createWorkerContext(
  config: WorkerConfig,
  schema = watchSchema('worker', config),
): Promise<WorkerContext> {
  const logger = createLogger({ app: 'worker', level: config.LOG_LEVEL });
  const onFault = (what: string) => (error: unknown) =>
    logger.warn({ error: describeError(error) }, what);

  const databaseUrl = config.DATABASE_URL.reveal();
  // Both fail on a wrong setting, before anything is open.
  const runner = createRunnerClient({
    urls: config.RUNNER_URLS,
    resolve: ownNamesBy(),
    secret: config.RUNNER_SECRET.reveal(),
    onDistrust: (url, error) =>
      logger.warn(
        { runner: url, error: describeError(error) },
        'this process and the runner did not prove to each other that they have RUNNER_SECRET',
      ),
    onForeign: (url, versions) =>
      logger.warn(
        { runner: url, ours: spokenVersions, theirs: versions },
        'this process and the runner speak no version of the protocol in common: replace the older one',
      ),
  });
  const egressPolicy = egressPolicyOf(config, [
    databaseUrl,
    ...redisServices(config),
    ...config.RUNNER_URLS,
    ...ownServicesAt(config.HOST, [config.OPS_PORT]),
  ]);
  const stores = await connectStores({
    app: 'worker',
    schema,
    config,
    runners: () => runner.words(),
    logger,
    onFault,
  });
  const database = connectDatabase({
    url: databaseUrl,
    app: 'worker',
    connectionsMax: config.DATABASE_CONNECTIONS,
    readsQueues: true,
    onIdleError: onFault('an idle connection to Postgres broke'),
  });

  const lookups = new Shares({ places: config.EGRESS_LOOKUPS_MAX });
  const tokenUses = new TokenUses(database);
  const registry = createRegistry('worker');
  observeDefinitions(registry, stores.definitions.follower);
  return {
    config,
    logger,
    registry,
    metrics: createMetrics(registry),
    schema,
    database,
    definitions: stores.definitions,
    sealer: stores.sealer,
    tokenUses,
    vault: new Vault(stores.sealer, tokenUses),
    runner,
    bundles: new Bundles(database, stores.sealer),
    egress: createEgress(egressPolicy, { lookups }),
    hopMarker: hopMarkerOf(stores.keyHash),
    lookups,
    async close() {
      await runner.close();
      await stores.close();
      await database.close();
    },
  };
}
