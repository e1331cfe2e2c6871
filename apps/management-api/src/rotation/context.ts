import { connectDatabase, type Database } from '@glovebox/database';
import { connectDefinitions, type DefinitionConnection } from '@glovebox/definitions';
import { parseKeyRing, type KeyRing } from '@glovebox/seal';
import type { RotationConfig } from '../config';

/** The context of the command that rotates the master key. Its role may do nothing else. */
export interface RotationContext {
  readonly database: Database;
  /** Copies resealed definitions to Redis even while no app runs. */
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
    // Statements count over whole tables.
    statementTimeoutMs: 120_000,
  });
  const definitions = connectDefinitions({
    app: 'rotation',
    databaseUrl: url,
    redisUrl: config.REDIS_URL.reveal(),
    ring,
    relays: true,
    // The status at the end reports how far Redis is.
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
