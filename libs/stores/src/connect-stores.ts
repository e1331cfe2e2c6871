import { dataKeyTable, KeyUses } from '@glovebox/database';
import { connectDefinitions, type DefinitionConnection } from '@glovebox/definitions';
import { createKeyHash, parseKeyRing, Sealer, type KeyHash, type KeyRing } from '@glovebox/seal';
import type { Secret } from '@glovebox/service-host';
import type { SchemaWatch } from './schema-watch';

/** The connections that every process with a key ring opens to Postgres and Redis. */
interface Stores {
  readonly ring: KeyRing;
  readonly sealer: Sealer;
  readonly keyHash: KeyHash;
  /** When keys were last used: noted here, written later, never waited for. */
  readonly keyUses: KeyUses;
  readonly definitions: DefinitionConnection;
  close(): Promise<void>;
}

/** Opens the stores. When it rejects, nothing is left open. */
export async function connectStores(options: {
  readonly app: string;
  readonly schema: SchemaWatch;
  readonly config: {
    readonly DATABASE_URL: Secret;
    readonly REDIS_URL: Secret;
    readonly KEY_RING: Secret;
  };
  /** See connectDefinitions. */
  readonly writes?: boolean;
  readonly postgresAwayMaxMs?: number;
  readonly onFault: (what: string) => (error: unknown) => void;
}): Promise<Stores> {
  const { app, schema, config, writes = false, postgresAwayMaxMs = 0, onFault } = options;
  const databaseUrl = config.DATABASE_URL.reveal();
  const ring = parseKeyRing(config.KEY_RING.reveal());
  const sealer = new Sealer(ring, dataKeyTable(schema.sql));
  const keyUses = new KeyUses(schema.sql, onFault('the last use of a key was not recorded'));
  const definitions = connectDefinitions({
    app,
    databaseUrl,
    redisUrl: config.REDIS_URL.reveal(),
    ring,
    writes,
    postgresAwayMaxMs,
    onFault: onFault('definitions could not be followed'),
  });
  const close = async (): Promise<void> => {
    await definitions.close();
    await keyUses.stop();
    await schema.close();
  };
  try {
    await schema.require();
    const keyHash = await createKeyHash(sealer);
    return { ring, sealer, keyHash, keyUses, definitions, close };
  } catch (error) {
    await close();
    throw error;
  }
}
