import { DataSource, type DataSourceOptions } from 'typeorm';
import { connectionShares } from '@glovebox/database';
import type { Shares } from '@glovebox/shares';
import { Application } from '../entities/application.entity';
import { ApplicationKey } from '../entities/application-key.entity';
import { CreateDefinitionLog0000000000001 } from '../migrations/0001-create-definition-log';
import { CreateResources0000000000002 } from '../migrations/0002-create-resources';
import { CreateVault0000000000003 } from '../migrations/0003-create-vault';
import { CreateRuns0000000000004 } from '../migrations/0004-create-runs';
import { IndexAuditLog0000000000005 } from '../migrations/0005-index-audit-log';
import { CreateIdempotencyKeys0000000000007 } from '../migrations/0007-create-idempotency-keys';
import { CoverLists0000000000009 } from '../migrations/0009-cover-lists';
import { RecordKeyUses0000000000010 } from '../migrations/0010-record-key-uses';
import { DeleteTenants0000000000011 } from '../migrations/0011-delete-tenants';
import { AddTlsToProxies0000000000012 } from '../migrations/0012-add-tls-to-proxies';
import { CompleteVault0000000000013 } from '../migrations/0013-complete-vault';
import { RotateMasterKeys0000000000014 } from '../migrations/0014-rotate-master-keys';
import { CountDefinitions0000000000017 } from '../migrations/0017-count-definitions';
import { BindReplaysToGrants0000000000018 } from '../migrations/0018-bind-replays-to-grants';
import { ShareOutQueues0000000000026 } from '../migrations/0026-share-out-queues';
import { AddStepsToProxies0000000000028 } from '../migrations/0028-add-steps-to-proxies';
import { CountWhatWasSent0000000000031 } from '../migrations/0031-count-what-was-sent';
import { ClearAwayInWorkers0000000000032 } from '../migrations/0032-clear-away-in-workers';
import { ListWaitingWork0000000000033 } from '../migrations/0033-list-waiting-work';
import { LogEndedWork0000000000034 } from '../migrations/0034-log-ended-work';
import { BoundAuditLog0000000000035 } from '../migrations/0035-bound-audit-log';
import { PartitionAuditLog0000000000036 } from '../migrations/0036-partition-audit-log';
import { KeepOutcomesOfRuns0000000000037 } from '../migrations/0037-keep-outcomes-of-runs';
import { GiveWebhooksPlaces0000000000038 } from '../migrations/0038-give-webhooks-places';
import { RememberWhatAnswersShow0000000000039 } from '../migrations/0039-remember-what-answers-show';
import { CountTokens0000000000040 } from '../migrations/0040-count-tokens';
import { OrderLists0000000000041 } from '../migrations/0041-order-lists';
import { TellWebhookPaths0000000000042 } from '../migrations/0042-tell-webhook-paths';
import { Proxy } from '../entities/proxy.entity';
import { ReactorFormula } from '../entities/reactor-formula.entity';
import { Reactor } from '../entities/reactor.entity';
import { Tenant } from '../entities/tenant.entity';

const entities = [Tenant, Application, ApplicationKey, ReactorFormula, Reactor, Proxy];

const migrations = [
  CreateDefinitionLog0000000000001,
  CreateResources0000000000002,
  CreateVault0000000000003,
  CreateRuns0000000000004,
  IndexAuditLog0000000000005,
  CreateIdempotencyKeys0000000000007,
  CoverLists0000000000009,
  RecordKeyUses0000000000010,
  DeleteTenants0000000000011,
  AddTlsToProxies0000000000012,
  CompleteVault0000000000013,
  RotateMasterKeys0000000000014,
  CountDefinitions0000000000017,
  BindReplaysToGrants0000000000018,
  ShareOutQueues0000000000026,
  AddStepsToProxies0000000000028,
  CountWhatWasSent0000000000031,
  ClearAwayInWorkers0000000000032,
  ListWaitingWork0000000000033,
  LogEndedWork0000000000034,
  BoundAuditLog0000000000035,
  PartitionAuditLog0000000000036,
  KeepOutcomesOfRuns0000000000037,
  GiveWebhooksPlaces0000000000038,
  RememberWhatAnswersShow0000000000039,
  CountTokens0000000000040,
  OrderLists0000000000041,
  TellWebhookPaths0000000000042,
];

/** TypeORM's pool. Tenants share its connections through `inTenant`. */
export class SharedDataSource extends DataSource {
  readonly shares: Shares;

  constructor(options: DataSourceOptions & { readonly poolSize: number }) {
    super(options);
    this.shares = connectionShares(options.poolSize);
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
    url: options.url,
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
    url,
    applicationName: 'migrations',
    entities,
    migrations,
    synchronize: false,
    logging: false,
    poolSize: 2,
  });
}
