import type { Database } from '@glovebox/database';
import type { RunnerClient } from '@glovebox/sandbox';
import type { Logger } from '@glovebox/service-host';
import type { Vault } from '@glovebox/vault';
import type { Bundles } from './bundles';

/** The part of a context that running customer code needs, in the gateway and in the worker. */
export interface ReactorContext {
  readonly database: Database;
  readonly vault: Vault;
  readonly runner: Pick<RunnerClient, 'run'>;
  readonly bundles: Pick<Bundles, 'read'>;
  readonly logger: Pick<Logger, 'error'>;
}
