import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { connectDatabase, dataKeyTable, KeyUses, type Database } from '@glovebox/database';
import {
  connectDefinitions,
  type DefinitionConnection,
  type DefinitionFollower,
} from '@glovebox/definitions';
import { createEgress, parseEgressPolicy, type Egress } from '@glovebox/egress';
import { runQueue } from '@glovebox/reactors';
import { createRunnerClient, type RunnerClient } from '@glovebox/sandbox';
import { createKeyHash, parseKeyRing, Sealer, type KeyHash } from '@glovebox/seal';
import {
  createLogger,
  createRegistry,
  describeError,
  Histogram,
  ServiceHeaders,
  type Logger,
  type Registry,
} from '@glovebox/service-host';
import { Vault } from '@glovebox/vault';
import type { GatewayConfig } from './config';
import { DestinationPools } from './destination-pools';

/** All that a request may need, made once. Tests make their own with parts of it replaced. */
export interface GatewayContext {
  readonly config: GatewayConfig;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly duration: Histogram<'route' | 'status'>;
  readonly database: Database;
  readonly definitions: DefinitionConnection;
  readonly follower: DefinitionFollower;
  readonly sealer: Sealer;
  readonly vault: Vault;
  readonly keyHash: KeyHash;
  /** When keys were last used: noted here, written later, never waited for. */
  readonly keyUses: KeyUses;
  readonly runner: RunnerClient;
  readonly runs: Queue;
  readonly egress: Egress;
  readonly destinations: DestinationPools;
  readonly headers: ServiceHeaders;
  close(): Promise<void>;
}

export async function createGatewayContext(config: GatewayConfig): Promise<GatewayContext> {
  const logger = createLogger({ app: 'gateway', level: config.LOG_LEVEL });
  const registry = createRegistry('gateway');
  const onFault = (what: string) => (error: unknown) =>
    logger.warn({ error: describeError(error) }, what);

  const url = config.DATABASE_URL.reveal();
  const database = connectDatabase({
    url,
    app: 'gateway',
    connectionsMax: 20,
    onIdleError: onFault('an idle connection to Postgres broke'),
  });
  const redisUrl = config.REDIS_URL.reveal();
  const queueRedis = new Redis(redisUrl, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: 2_000,
  });
  queueRedis.on('error', onFault('Redis is not reachable'));

  const ring = parseKeyRing(config.KEY_RING.reveal());
  // A pool of its own: a transaction that waits for a data key must not wait for other transactions.
  const dataKeys = connectDatabase({
    url,
    app: 'gateway-keys',
    connectionsMax: 2,
    onIdleError: onFault('an idle connection to Postgres broke'),
  });
  const sealer = new Sealer(ring, dataKeyTable(dataKeys));
  const definitions = connectDefinitions({
    app: 'gateway',
    databaseUrl: url,
    redisUrl,
    ring,
    relays: false,
    postgresAwayMaxMs: config.POSTGRES_AWAY_MAX_MS,
    onFault: onFault('definitions could not be followed'),
  });
  const egress = createEgress(
    parseEgressPolicy({
      allow: config.EGRESS_ALLOW,
      allowHttp: config.EGRESS_ALLOW_HTTP,
      dnsServers: config.EGRESS_DNS,
      ownServices: [
        ...config.EGRESS_OWN_SERVICES,
        url,
        redisUrl,
        config.MANAGEMENT_URL,
        ...config.RUNNER_URLS,
        `${config.HOST}:${config.PORT}`,
        `${config.HOST}:${config.OPS_PORT}`,
      ],
    }),
  );
  const runner = createRunnerClient({
    urls: config.RUNNER_URLS,
    secret: config.RUNNER_SECRET.reveal(),
  });
  const runs = new Queue(runQueue.name, {
    connection: queueRedis,
    prefix: runQueue.prefix,
    defaultJobOptions: runQueue.options,
  });
  runs.on('error', onFault('the queue of runs is not reachable'));
  const destinations = new DestinationPools(egress);

  const keyUses = new KeyUses(dataKeys, onFault('the last use of a key was not recorded'));

  return {
    config,
    logger,
    registry,
    duration: new Histogram({
      name: 'glovebox_gateway_request_seconds',
      help: 'How long requests took, by route and status',
      labelNames: ['route', 'status'],
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
      registers: [registry],
    }),
    database,
    definitions,
    follower: definitions.follower,
    sealer,
    vault: new Vault(sealer),
    keyHash: await createKeyHash(sealer),
    keyUses,
    runner,
    runs,
    egress,
    destinations,
    headers: new ServiceHeaders(config.HEADER_PREFIXES),
    async close() {
      await keyUses.stop();
      await definitions.close();
      await runner.close();
      await destinations.close();
      await runs.close();
      queueRedis.disconnect();
      await dataKeys.close();
      await database.close();
    },
  };
}
