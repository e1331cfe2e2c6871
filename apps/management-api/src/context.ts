import { Inject } from '@nestjs/common';
import { CallLog } from '@glovebox/calls';
import type { KeyUses } from '@glovebox/database';
import type { DefinitionConnection } from '@glovebox/definitions';
import { createEgress, egressPolicyOf, ownServicesAt, type Egress } from '@glovebox/egress';
import { createRateLimit, type RateLimit } from '@glovebox/rates';
import type { KeyHash, KeyRing, Sealer } from '@glovebox/seal';
import {
  createLogger,
  createRegistry,
  describeError,
  Histogram,
  type Logger,
  type Registry,
} from '@glovebox/service-host';
import { ServiceHeaders } from '@glovebox/wire';
import { observeShares, type Shares } from '@glovebox/shares';
import { connectStores, observeDefinitions, watchSchema, type SchemaWatch } from '@glovebox/stores';
import { redisServices } from '@glovebox/store-urls';
import { usesOneByOne, Vault } from '@glovebox/vault';
import { Tickets } from '@glovebox/dry-runs';
import type { ManagementConfig } from './config';
import { Strangers } from './console/strangers';
import { DryRunGateway } from './dry-runs/hand-over';
import { WebhookNews } from './listeners/webhook-news';
import { createPageShares } from './shares/page-shares';
import { createBodyShares, type BodyShares } from './shares/body-room';
import { createDataSource, type SharedDataSource } from './database/data-source';
import { eachInTenant, ofAllTenants } from './database/in-tenant';
import { connectSearches, type Searches } from './shares/searches';

/** Everything the API needs, created once. Tests create their own with parts replaced. */
export interface ManagementContext {
  readonly config: ManagementConfig;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly duration: Histogram<'method' | 'route' | 'status'>;
  readonly schema: SchemaWatch;
  readonly dataSource: SharedDataSource;
  readonly searches: Searches;
  readonly definitions: DefinitionConnection;
  readonly ring: KeyRing;
  readonly sealer: Sealer;
  readonly keyHash: KeyHash;
  readonly keyUses: KeyUses;
  /** Null: switched off. */
  readonly callRate: RateLimit | null;
  /** Values that a person has shown to themselves. */
  readonly revealRate: RateLimit | null;
  readonly strangers: Strangers;
  readonly vault: Vault;
  readonly bodies: BodyShares;
  readonly pageBytes: Shares;
  /** Only checks destinations. The management API opens no connection to them. */
  readonly egress: Egress;
  readonly headers: ServiceHeaders;
  readonly callLog: CallLog;
  readonly dryRuns: DryRunGateway;
  readonly webhookNews: WebhookNews;
  close(): Promise<void>;
}

const token = 'ManagementContext';

const revealsPerMinute = 10;
/** Of one network. Somebody who signs in at an issuer counts three times. */
const signInsPerMinute = 120;
/** Of one network: keys that no session is known of yet. */
const strangeKeysPerMinute = 300;

/** Injects the context into guards and services. */
export const Context = (): ParameterDecorator => Inject(token);

export const provideContext = (context: ManagementContext) => ({
  provide: token,
  useValue: context,
});

export async function createManagementContext(
  config: ManagementConfig,
  schema = watchSchema('management-api', config),
): Promise<ManagementContext> {
  const logger = createLogger({ app: 'management-api', level: config.LOG_LEVEL });
  const registry = createRegistry('management-api');
  const onFault = (what: string) => (error: unknown) =>
    logger.warn({ error: describeError(error) }, what);

  const url = config.DATABASE_URL.reveal();
  // A wrong setting fails here, before anything is open.
  const egressPolicy = egressPolicyOf(config, [
    url,
    ...redisServices(config),
    ...ownServicesAt(config.HOST, [config.PORT, config.OPS_PORT, config.CONSOLE_PORT ?? 0]),
  ]);
  const onIdleError = onFault('an idle connection to Postgres broke');
  const dataSource = createDataSource({
    url,
    connectionsMax: config.DATABASE_CONNECTIONS,
    onIdleError,
  });
  await dataSource.initialize();
  const stores = await connectStores({
    app: 'management-api',
    schema,
    config,
    moreConnections: config.SEARCH_CONNECTIONS,
    writes: true,
    logger,
    onFault,
  }).catch(async (error: unknown) => {
    await dataSource.destroy();
    throw error;
  });
  const searches = connectSearches({
    url,
    connectionsMax: config.SEARCH_CONNECTIONS,
    onIdleError,
  });

  const vault = new Vault(
    stores.sealer,
    usesOneByOne((tenantId) => eachInTenant(dataSource, tenantId)),
  );
  const bodies = createBodyShares();
  const pageBytes = createPageShares();
  observeShares(registry, {
    connections: dataSource.shares,
    lists: searches.shares.lists,
    searches: searches.shares.searches,
    large_openings: vault.largeOpenings.shares,
    buffered_bytes: bodies.bufferedBytes,
    large_bodies: bodies.largeBodies,
    page_bytes: pageBytes,
  });

  observeDefinitions(registry, stores.definitions.follower);

  const rateOf = (name: string, perMinute: number): RateLimit | null =>
    createRateLimit({
      ...{ name, perMinute, redis: stores.definitions.redis },
      onFault: onFault(`calls were not counted together: ${name}`),
    });
  const callRate = rateOf('management', config.RATE_LIMIT_PER_MINUTE);
  const revealRate = rateOf('reveals', revealsPerMinute);
  const strangers = new Strangers(
    {
      signIns: rateOf('sign-ins', signInsPerMinute),
      keys: rateOf('strange-keys', strangeKeysPerMinute),
    },
    config.CONSOLE_TRUSTED_HOPS,
  );

  const dryRuns = new DryRunGateway(config.GATEWAY_URL, await Tickets.by(stores.sealer));
  const webhookNews = new WebhookNews(dataSource);
  const callLog = new CallLog({ sql: ofAllTenants(dataSource), registry, logger });

  return {
    config,
    logger,
    registry,
    duration: new Histogram({
      name: 'glovebox_management_request_seconds',
      help: 'How long requests took, by method, route and status',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
      registers: [registry],
    }),
    schema,
    dataSource,
    searches,
    definitions: stores.definitions,
    ring: stores.ring,
    sealer: stores.sealer,
    keyHash: stores.keyHash,
    keyUses: stores.keyUses,
    callRate,
    revealRate,
    strangers,
    vault,
    bodies,
    pageBytes,
    egress: createEgress(egressPolicy),
    headers: new ServiceHeaders(config.HEADER_PREFIXES),
    callLog,
    dryRuns,
    webhookNews,
    async close() {
      webhookNews.close();
      callRate?.close();
      revealRate?.close();
      strangers.close();
      dryRuns.close();
      await callLog.stop();
      await stores.close();
      await searches.close();
      await dataSource.destroy();
    },
  };
}
