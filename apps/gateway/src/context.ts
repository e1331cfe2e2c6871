import { Queue } from 'bullmq';
import { CallLog } from '@glovebox/calls';
import { connectDatabase, type Database, type KeyUses } from '@glovebox/database';
import type { DefinitionConnection, DefinitionFollower } from '@glovebox/definitions';
import { Tickets, UsedTickets } from '@glovebox/dry-runs';
import {
  createEgress,
  egressPolicyOf,
  ownServicesAt,
  hopMarkerOf,
  ownNamesBy,
  type Egress,
} from '@glovebox/egress';
import { Bundles, runsRecorded, waitingLines } from '@glovebox/reactors';
import { RunLog, runQueue } from '@glovebox/runs';
import { createRunnerClient, spokenVersions, type RunnerClient } from '@glovebox/sandbox';
import type { KeyHash, Sealer } from '@glovebox/seal';
import {
  createLogger,
  createRegistry,
  describeError,
  type Logger,
  type Registry,
} from '@glovebox/service-host';
import { ServiceHeaders } from '@glovebox/wire';
import { observeShares, Shares } from '@glovebox/shares';
import { connectRedis, redisServices } from '@glovebox/store-urls';
import { connectStores, observeDefinitions, watchSchema, type SchemaWatch } from '@glovebox/stores';
import { TokenUses, Vault } from '@glovebox/vault';
import { createCallShares, type CallShares } from './call/call-shares';
import { KnownKeys } from './call/caller';
import { Pages } from './call/pages';
import { CallRates } from './call/rates/call-rates';
import { Captures } from './capture/captures';
import type { GatewayConfig } from './config';
import { Tunnels } from './connection/upgrade';
import { Leaves } from './forward/leaves';
import { KeptOutcomes } from './react/kept-outcomes';
import { Destinations } from './destinations/destinations';
import { AccessLog } from './observing/access-log';
import { FailureLog } from './observing/failure-log';
import { createMetrics, type GatewayMetrics } from './observing/metrics';
import { SpanSender } from './observing/span-sender';
import { Tracer } from './observing/tracer';

/** The wait of a gateway that stops for runs whose lines are still being redacted. */
const recordsWaitMs = 5_000;

/** Everything that a request may need, made once. Tests replace parts of it. */
export interface GatewayContext {
  readonly config: GatewayConfig;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly metrics: GatewayMetrics;
  /** Null unless ACCESS_LOG is set. */
  readonly accessLog: AccessLog | null;
  /** Null where the access log tells the same. */
  readonly failureLog: FailureLog | null;
  readonly tracer: Tracer | null;
  /** Aborted when the process is told to end. */
  readonly stopping: AbortSignal;
  readonly schema: SchemaWatch;
  readonly database: Database;
  readonly definitions: DefinitionConnection;
  readonly follower: DefinitionFollower;
  readonly sealer: Sealer;
  readonly vault: Vault;
  readonly keyHash: KeyHash;
  readonly knownKeys: KnownKeys;
  /** Notes when keys were last used, and writes it later. Nobody waits for it. */
  readonly keyUses: KeyUses;
  readonly runner: RunnerClient;
  readonly bundles: Bundles;
  readonly runs: Queue;
  readonly runLog: Pick<RunLog, 'recorder'>;
  readonly callLog: CallLog;
  readonly captures: Captures;
  readonly egress: Egress;
  readonly destinations: Destinations;
  readonly shares: CallShares;
  readonly tunnels: Tunnels;
  /** The tunnels of forward mode, read or not, by tenant. */
  readonly forwardTunnels: Shares;
  readonly leaves: Leaves;
  readonly keptOutcomes: KeptOutcomes;
  readonly rates: CallRates;
  readonly pages: Pages;
  /** Marks a request that has passed this installation. */
  readonly hopMarker: string;
  /** Of management APIs, for dry runs. */
  readonly tickets: Tickets;
  readonly usedTickets: UsedTickets;
  readonly headers: ServiceHeaders;
  close(): Promise<void>;
}

/** Parts that specs replace. */
export interface GatewayParts {
  readonly stopping: AbortSignal;
  readonly writeAccessLog?: (lines: string) => void;
}

export async function createGatewayContext(
  config: GatewayConfig,
  { stopping, writeAccessLog = (lines) => void process.stdout.write(lines) }: GatewayParts,
  schema = watchSchema('gateway', config),
): Promise<GatewayContext> {
  const logger = createLogger({ app: 'gateway', level: config.LOG_LEVEL });
  const registry = createRegistry('gateway');
  const onFault = (what: string) => (error: unknown) =>
    logger.warn({ error: describeError(error) }, what);

  const url = config.DATABASE_URL.reveal();
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
    url,
    ...redisServices(config),
    config.MANAGEMENT_URL,
    ...config.RUNNER_URLS,
    ...(config.TRACE_OTLP_URL === undefined ? [] : [config.TRACE_OTLP_URL]),
    ...ownServicesAt(config.HOST, [config.PORT, config.OPS_PORT, config.FORWARD_PORT ?? 0]),
  ]);
  const stores = await connectStores({
    app: 'gateway',
    schema,
    config,
    postgresAwayMaxMs: config.POSTGRES_AWAY_MAX_MS,
    runners: () => runner.words(),
    logger,
    onFault,
  });
  const { definitions, keyHash } = stores;
  const { follower } = definitions;
  const database = connectDatabase({
    url,
    app: 'gateway',
    connectionsMax: config.DATABASE_CONNECTIONS,
    onIdleError: onFault('an idle connection to Postgres broke'),
  });
  const queueRedis = connectRedis(
    config,
    {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 1,
      commandTimeout: 2_000,
      socketTimeout: 4_000,
    },
    onFault('Redis is not reachable'),
  );

  const lookups = new Shares({ places: config.EGRESS_LOOKUPS_MAX });
  const egress = createEgress(egressPolicy, { lookups });
  const runs = new Queue(runQueue.name, {
    connection: queueRedis,
    prefix: runQueue.prefix,
    defaultJobOptions: runQueue.options,
  });
  runs.on('error', onFault('the queue of runs is not reachable'));
  const destinationPlaces = new Shares({ places: config.DESTINATIONS_MAX });
  const connections = new Shares({ places: config.DESTINATION_CONNECTIONS_MAX });
  const destinations = new Destinations(egress, follower, {
    callsMax: config.DESTINATION_CALLS_MAX,
    places: destinationPlaces,
    connections,
  });

  observeDefinitions(registry, follower);
  const metrics = createMetrics(registry, { follower, destinations });
  const shares = createCallShares(config);
  const tokenUses = new TokenUses(database);
  const vault = new Vault(stores.sealer, tokenUses);
  const forwardTunnels = new Shares({ places: config.FORWARD_TUNNELS_MAX });
  const leaves = new Leaves({ placesMax: config.FORWARD_CERTIFICATES_MAX });
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
    dry_runs: shares.dryRuns,
    large_openings: vault.largeOpenings.shares,
    run_lines: waitingLines,
    forward_tunnels: forwardTunnels,
    forward_certificates: leaves.places,
    forward_makings: leaves.makings,
  });
  const headers = new ServiceHeaders(config.HEADER_PREFIXES);
  const rates = new CallRates(config, queueRedis, onFault('calls were not counted together'));
  const runLog = new RunLog({ sql: database, sealer: stores.sealer, registry, logger });
  const callLog = new CallLog({ sql: database, registry, logger });
  const captures = new Captures({
    sql: database,
    sealer: stores.sealer,
    registry,
    logger,
    headers,
  });
  const accessLog = config.ACCESS_LOG ? new AccessLog(writeAccessLog) : null;
  const failureLog = accessLog ? null : new FailureLog(logger);
  const tracer =
    config.TRACE_OTLP_URL === undefined
      ? null
      : new Tracer(
          new SpanSender(config.TRACE_OTLP_URL, metrics.spans),
          config.TRACE_SAMPLE_PERCENT,
        );

  return {
    config,
    logger,
    registry,
    metrics,
    accessLog,
    failureLog,
    tracer,
    stopping,
    schema,
    database,
    definitions,
    follower,
    sealer: stores.sealer,
    vault,
    keyHash,
    knownKeys: new KnownKeys(),
    keyUses: stores.keyUses,
    runner,
    bundles: new Bundles(database, stores.sealer),
    runs,
    runLog,
    callLog,
    captures,
    egress,
    destinations,
    shares,
    tunnels: new Tunnels(),
    forwardTunnels,
    leaves,
    keptOutcomes: new KeptOutcomes(database, config.OUTCOME_BYTES_PER_TENANT),
    rates,
    pages: new Pages({ headers, follower, keyHash }),
    hopMarker: hopMarkerOf(keyHash),
    tickets: await Tickets.by(stores.sealer),
    usedTickets: new UsedTickets(),
    headers,
    async close() {
      rates.close();
      accessLog?.flush();
      failureLog?.flush();
      await tracer?.stop();
      await runner.close();
      await destinations.close();
      await runsRecorded(recordsWaitMs);
      await runLog.stop();
      await callLog.stop();
      await captures.stop();
      await runs.close();
      queueRedis.disconnect();
      await stores.close();
      await database.close();
    },
  };
}
