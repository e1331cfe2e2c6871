import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { connectDatabase, dataKeyTable, KeyUses, type Database } from '@glovebox/database';
import {
  connectDefinitions,
  type DefinitionConnection,
  type DefinitionFollower,
} from '@glovebox/definitions';
import { createEgress, hopMarkerOf, parseEgressPolicy, type Egress } from '@glovebox/egress';
import { runQueue } from '@glovebox/reactors';
import { createRunnerClient, type RunnerClient } from '@glovebox/sandbox';
import { createKeyHash, parseKeyRing, Sealer, type KeyHash } from '@glovebox/seal';
import {
  createLogger,
  createRegistry,
  describeError,
  type Logger,
  type Registry,
} from '@glovebox/service-host';
import { ServiceHeaders } from '@glovebox/wire';
import { observeShares, Shares } from '@glovebox/shares';
import { TokenUses, Vault } from '@glovebox/vault';
import { AccessLog } from './observing/access-log';
import { createCallShares, type CallShares } from './call/call-shares';
import type { GatewayConfig } from './config';
import { Destinations } from './destinations/destinations';
import { KnownKeys } from './call/known-keys';
import { createMetrics, type GatewayMetrics } from './observing/metrics';
import { SpanSender } from './observing/span-sender';
import { Tracer } from './observing/tracer';
import { Tunnels } from './proxy/upgrade';

/** All that a request may need, made once. Tests make their own with parts of it replaced. */
export interface GatewayContext {
  readonly config: GatewayConfig;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly metrics: GatewayMetrics;
  /** Null unless it was asked for. */
  readonly accessLog: AccessLog | null;
  readonly tracer: Tracer | null;
  /** Aborted when the process has been told to end. */
  readonly stopping: AbortSignal;
  readonly database: Database;
  readonly definitions: DefinitionConnection;
  readonly follower: DefinitionFollower;
  readonly sealer: Sealer;
  readonly vault: Vault;
  readonly keyHash: KeyHash;
  readonly knownKeys: KnownKeys;
  /** When keys were last used: noted here, written later, never waited for. */
  readonly keyUses: KeyUses;
  readonly runner: RunnerClient;
  readonly runs: Queue;
  readonly egress: Egress;
  readonly destinations: Destinations;
  readonly shares: CallShares;
  readonly tunnels: Tunnels;
  /** What tells that a request has been through this installation. */
  readonly hopMarker: string;
  readonly headers: ServiceHeaders;
  close(): Promise<void>;
}

/** What the process is for its context; specs have others. */
export interface GatewayParts {
  readonly stopping: AbortSignal;
  readonly writeAccessLog?: (lines: string) => void;
}

export async function createGatewayContext(
  config: GatewayConfig,
  { stopping, writeAccessLog = (lines) => void process.stdout.write(lines) }: GatewayParts,
): Promise<GatewayContext> {
  const logger = createLogger({ app: 'gateway', level: config.LOG_LEVEL });
  const registry = createRegistry('gateway');
  const onFault = (what: string) => (error: unknown) =>
    logger.warn({ error: describeError(error) }, what);

  const url = config.DATABASE_URL.reveal();
  const redisUrl = config.REDIS_URL.reveal();
  // All that a wrong setting makes fail, before anything is open.
  const ring = parseKeyRing(config.KEY_RING.reveal());
  const egressPolicy = parseEgressPolicy({
    allow: config.EGRESS_ALLOW,
    allowHttp: config.EGRESS_ALLOW_HTTP,
    dnsServers: config.EGRESS_DNS,
    ownServices: [
      ...config.EGRESS_OWN_SERVICES,
      url,
      redisUrl,
      config.MANAGEMENT_URL,
      ...config.RUNNER_URLS,
      ...(config.TRACE_OTLP_URL === undefined ? [] : [config.TRACE_OTLP_URL]),
      `${config.HOST}:${config.PORT}`,
      `${config.HOST}:${config.OPS_PORT}`,
    ],
  });
  const database = connectDatabase({
    url,
    app: 'gateway',
    connectionsMax: config.DATABASE_CONNECTIONS,
    onIdleError: onFault('an idle connection to Postgres broke'),
  });
  const queueRedis = new Redis(redisUrl, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: 2_000,
  });
  queueRedis.on('error', onFault('Redis is not reachable'));

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
  const lookups = new Shares({ places: config.EGRESS_LOOKUPS_MAX });
  const egress = createEgress(egressPolicy, { lookups });
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
  const destinationPlaces = new Shares({ places: config.DESTINATIONS_MAX });
  const connections = new Shares({ places: config.DESTINATION_CONNECTIONS_MAX });
  const destinations = new Destinations(egress, definitions.follower, {
    callsMax: config.DESTINATION_CALLS_MAX,
    places: destinationPlaces,
    connections,
  });

  const { follower } = definitions;
  const metrics = createMetrics(registry, { follower, destinations });
  const shares = createCallShares(config);
  const tokenUses = new TokenUses(database);
  const vault = new Vault(sealer, tokenUses);
  observeShares(registry, {
    connections: database.shares,
    token_uses: tokenUses.places,
    lookups,
    destinations: destinationPlaces,
    destination_connections: connections,
    destination_openings: destinations.openings,
    calls: shares.calls,
    calls_of_keys: shares.callsOfKeys,
    buffered_bytes: shares.bufferedBytes,
    turns: shares.turns,
    large_openings: vault.largeOpenings,
  });
  const accessLog = config.ACCESS_LOG ? new AccessLog(writeAccessLog) : null;
  const tracer =
    config.TRACE_OTLP_URL === undefined
      ? null
      : new Tracer(
          new SpanSender(config.TRACE_OTLP_URL, metrics.spans),
          config.TRACE_SAMPLE_PERCENT,
        );

  const keyUses = new KeyUses(dataKeys, onFault('the last use of a key was not recorded'));
  const close = async (): Promise<void> => {
    accessLog?.flush();
    await tracer?.stop();
    await keyUses.stop();
    await definitions.close();
    await runner.close();
    await destinations.close();
    await runs.close();
    queueRedis.disconnect();
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
    metrics,
    accessLog,
    tracer,
    stopping,
    database,
    definitions,
    follower,
    sealer,
    vault,
    keyHash,
    knownKeys: new KnownKeys(),
    keyUses,
    runner,
    runs,
    egress,
    destinations,
    shares,
    tunnels: new Tunnels(),
    hopMarker: hopMarkerOf(keyHash),
    headers: new ServiceHeaders(config.HEADER_PREFIXES),
    close,
  };
}
