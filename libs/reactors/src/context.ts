import type { Database } from '@glovebox/database';
import type { RunnerClient } from '@glovebox/sandbox';
import type { Logger } from '@glovebox/service-host';
import type { Vault } from '@glovebox/vault';

/** What running customer code takes, in the gateway and in the worker alike. */
export interface ReactorContext {
  readonly database: Database;
  readonly vault: Vault;
  readonly runner: RunnerClient;
  readonly logger: Pick<Logger, 'error'>;
}
