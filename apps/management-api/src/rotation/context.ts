import { connectDatabase, type Database } from '@glovebox/database';
import { connectDefinitions, type DefinitionConnection } from '@glovebox/definitions';
import { parseKeyRing, type KeyRing } from '@glovebox/seal';
import type { RotationConfig } from '../config';

/** What the command that rotates the master key stands on: a role that may do that and nothing else. */
export interface RotationContext {
  readonly database: Database;
  /** Carries what was sealed anew to Redis even while no app runs. */
  readonly definitions: DefinitionConnection;
  readonly ring: KeyRing;
  close(): Promise<void>;
}

export function createRotationContext(config: RotationConfig): RotationContext {
  const url = config.DATABASE_URL.reveal();
  const ring = parseKeyRing(config.KEY_RING.reveal());
  const database = connectDatabase({
    url,
    app: 'rotation',
    connectionsMax: 2,
    // It counts over whole tables.
    statementTimeoutMs: 120_000,
  });
  const definitions = connectDefinitions({
    app: 'rotation',
    databaseUrl: url,
    redisUrl: config.REDIS_URL.reveal(),
    ring,
    relays: true,
    // Whether Redis has arrived is counted at the end, and said there.
    onFault: () => undefined,
  });
  return {
    database,
    definitions,
    ring,
    async close() {
      await definitions.close();
      await database.close();
    },
  };
}
