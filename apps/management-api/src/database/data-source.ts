import { DataSource, type DataSourceOptions } from 'typeorm';
import { connectionShares } from '@glovebox/database';
import type { Shares } from '@glovebox/shares';
import { parseStoreUrl, trustFault, type StoreTls } from '@glovebox/store-urls';
import { Application } from '../entities/application.entity';
import { ApplicationKey } from '../entities/application-key.entity';
import { CreateSchema0000000000001 } from '../migrations/0001-create-schema';
import { LogCalls0000000000002 } from '../migrations/0002-log-calls';
import { KeepReasonsOfRuns0000000000003 } from '../migrations/0003-keep-reasons-of-runs';
import { AddAllowedOrigins0000000000004 } from '../migrations/0004-add-allowed-origins';
import { AddReaderVersions0000000000005 } from '../migrations/0005-add-reader-versions';
import { MarkTheDatabase0000000000006 } from '../migrations/0006-mark-the-database';
import { RecordMigrations0000000000007 } from '../migrations/0007-record-migrations';
import { AddPeopleAndSessions0000000000008 } from '../migrations/0008-add-people-and-sessions';
import { KeepArgumentsOfRuns0000000000009 } from '../migrations/0009-keep-arguments-of-runs';
import { FindByTraceAndCode0000000000010 } from '../migrations/0010-find-by-trace-and-code';
import { CaptureCalls0000000000011 } from '../migrations/0011-capture-calls';
import { KeepCodeOfRuns0000000000012 } from '../migrations/0012-keep-code-of-runs';
import { EndPeopleAndCountByBucket0000000000013 } from '../migrations/0013-end-people-and-count-by-bucket';
import { AddSlugs0000000000014 } from '../migrations/0014-add-slugs';
import { KeepDeployments0000000000015 } from '../migrations/0015-keep-deployments';
import { KeepBundles0000000000016 } from '../migrations/0016-keep-bundles';
import { ListenToWebhooks0000000000018 } from '../migrations/0018-listen-to-webhooks';
import { SignInMachines0000000000019 } from '../migrations/0019-sign-in-machines';
import { NameProjects0000000000020 } from '../migrations/0020-name-projects';
import { BindTokensToDestinations0000000000021 } from '../migrations/0021-bind-tokens-to-destinations';
import { AddForwardAuthorities0000000000023 } from '../migrations/0023-add-forward-authorities';
import { MatchRequests0000000000024 } from '../migrations/0024-match-requests';
import { AddScrub0000000000025 } from '../migrations/0025-add-scrub';
import { recorded } from '../migrations/migration';
import { Proxy } from '../entities/proxy.entity';
import { ReactorFormula } from '../entities/reactor-formula.entity';
import { Reactor } from '../entities/reactor.entity';
import { Tenant } from '../entities/tenant.entity';

const entities = [Tenant, Application, ApplicationKey, ReactorFormula, Reactor, Proxy];

export const migrations = [
  CreateSchema0000000000001,
  LogCalls0000000000002,
  KeepReasonsOfRuns0000000000003,
  AddAllowedOrigins0000000000004,
  AddReaderVersions0000000000005,
  MarkTheDatabase0000000000006,
  RecordMigrations0000000000007,
  AddPeopleAndSessions0000000000008,
  KeepArgumentsOfRuns0000000000009,
  FindByTraceAndCode0000000000010,
  CaptureCalls0000000000011,
  KeepCodeOfRuns0000000000012,
  EndPeopleAndCountByBucket0000000000013,
  AddSlugs0000000000014,
  KeepDeployments0000000000015,
  KeepBundles0000000000016,
  ListenToWebhooks0000000000018,
  SignInMachines0000000000019,
  NameProjects0000000000020,
  BindTokensToDestinations0000000000021,
  AddForwardAuthorities0000000000023,
  MatchRequests0000000000024,
  AddScrub0000000000025,
].map(recorded);

/** TypeORM's pool. Tenants share its connections through `inTenant`. */
export class SharedDataSource extends DataSource {
  readonly shares: Shares;

  constructor(options: DataSourceOptions & { readonly poolSize: number }) {
    super(options);
    this.shares = connectionShares(options.poolSize);
  }

  override async initialize(): Promise<this> {
    return super.initialize().catch((error: unknown) => {
      throw trustFault('Postgres', error) ?? error;
    });
  }
}

/** Connects as the role that row-level security applies to. */
export function createDataSource(options: {
  url: string;
  connectionsMax: number;
  onIdleError: (error: unknown) => void;
}): SharedDataSource {
  return new SharedDataSource({
    type: 'postgres',
    ...addressOf(options.url),
    applicationName: 'management-api',
    entities,
    synchronize: false,
    logging: false,
    poolSize: options.connectionsMax,
    connectTimeoutMS: 2_000,
    poolErrorHandler: options.onIdleError,
    // A half-open connection never answers. The client gives up a little later than the server
    // would.
    extra: { statement_timeout: 5_000, query_timeout: 6_000, keepAlive: true },
  });
}

/** Connects as the role that owns the schema. */
export function createMigrationSource(url: string): DataSource {
  return new DataSource({
    type: 'postgres',
    ...addressOf(url),
    applicationName: 'migrations',
    entities,
    migrations,
    synchronize: false,
    logging: false,
    poolSize: 2,
  });
}

/** The driver would read TLS from the URL itself, and compare an address with a wrong name. */
function addressOf(text: string): { readonly url: string; readonly ssl?: StoreTls } {
  const { url, tls } = parseStoreUrl(text);
  return { url, ...(tls && { ssl: tls }) };
}
