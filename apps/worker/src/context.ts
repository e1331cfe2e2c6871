import { connectDatabase, dataKeyTable, type Database } from '@glovebox/database';
import { connectDefinitions, type DefinitionConnection } from '@glovebox/definitions';
import { createEgress, hopMarkerOf, parseEgressPolicy, type Egress } from '@glovebox/egress';
import { createRunnerClient, type RunnerClient } from '@glovebox/sandbox';
import { createKeyHash, parseKeyRing, Sealer } from '@glovebox/seal';
import {
  createLogger,
  createRegistry,
  describeError,
  type Logger,
  type Registry,
} from '@glovebox/service-host';
import { Shares } from '@glovebox/shares';
import { TokenUses, Vault } from '@glovebox/vault';
import type { WorkerConfig } from './config';

/** All that a job may need, made once. */
export interface WorkerContext {
  readonly config: WorkerConfig;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly database: Database;
  readonly definitions: DefinitionConnection;
  readonly sealer: Sealer;
  readonly tokenUses: TokenUses;
  readonly vault: Vault;
  readonly runner: RunnerClient;
  readonly egress: Egress;
  /** What tells that a webhook comes from this installation. */
  readonly hopMarker: string;
  readonly lookups: Shares;
  close(): Promise<void>;
}

export async function createWorkerContext(config: WorkerConfig): Promise<WorkerContext> {
  const logger = createLogger({ app: 'worker', level: config.LOG_LEVEL });
  const onFault = (what: string) => (error: unknown) =>
    logger.warn({ error: describeError(error) }, what);

  const databaseUrl = config.DATABASE_URL.reveal();
  const redisUrl = config.REDIS_URL.reveal();
  // All that a wrong setting makes fail, before anything is open.
  const ring = parseKeyRing(config.KEY_RING.reveal());
  const egressPolicy = parseEgressPolicy({
    allow: config.EGRESS_ALLOW,
    allowHttp: config.EGRESS_ALLOW_HTTP,
    dnsServers: config.EGRESS_DNS,
    ownServices: [
      ...config.EGRESS_OWN_SERVICES,
      databaseUrl,
      redisUrl,
      ...config.RUNNER_URLS,
      `${config.HOST}:${config.OPS_PORT}`,
    ],
  });
  const database = connectDatabase({
    url: databaseUrl,
    app: 'worker',
    connectionsMax: config.DATABASE_CONNECTIONS,
    onIdleError: onFault('an idle connection to Postgres broke'),
  });
  // A pool of its own: a transaction that waits for a data key must not wait for other transactions.
  const dataKeys = connectDatabase({
    url: databaseUrl,
    app: 'worker-keys',
    connectionsMax: 2,
    onIdleError: onFault('an idle connection to Postgres broke'),
  });
  const definitions = connectDefinitions({
    app: 'worker',
    databaseUrl,
    redisUrl,
    ring,
    relays: true,
    onFault: onFault('definitions could not be followed'),
  });
  const sealer = new Sealer(ring, dataKeyTable(dataKeys));
  const runner = createRunnerClient({
    urls: config.RUNNER_URLS,
    secret: config.RUNNER_SECRET.reveal(),
  });

  const lookups = new Shares({ places: config.EGRESS_LOOKUPS_MAX });
  const registry = createRegistry('worker');
  const tokenUses = new TokenUses(database);
  const vault = new Vault(sealer, tokenUses);
  const egress = createEgress(egressPolicy, { lookups });

  const close = async (): Promise<void> => {
    await runner.close();
    await definitions.close();
    await dataKeys.close();
    await database.close();
  };
  // Without a context nobody closes what is open by now.
  const keyHash = await createKeyHash(sealer).catch(async (error: unknown) => {
    await close();
    throw error;
  });

  return {
    config,
    logger,
    registry,
    database,
    definitions,
    sealer,
    tokenUses,
    vault,
    runner,
    egress,
    hopMarker: hopMarkerOf(keyHash),
    lookups,
    close,
  };
}
