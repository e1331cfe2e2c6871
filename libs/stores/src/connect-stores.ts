import { connectDatabase, dataKeyTable, KeyUses } from '@glovebox/database';
import { connectDefinitions, type DefinitionConnection } from '@glovebox/definitions';
import type { RedisPlace } from '@glovebox/redis';
import { createKeyHash, parseKeyRing, Sealer, type KeyHash, type KeyRing } from '@glovebox/seal';
import type { Secret } from '@glovebox/service-host';

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
  readonly config: RedisPlace & {
    readonly DATABASE_URL: Secret;
    readonly KEY_RING: Secret;
  };
  /** See connectDefinitions. */
  readonly writes?: boolean;
  readonly postgresAwayMaxMs?: number;
  readonly onFault: (what: string) => (error: unknown) => void;
}): Promise<Stores> {
  const { app, config, writes = false, postgresAwayMaxMs = 0, onFault } = options;
  const databaseUrl = config.DATABASE_URL.reveal();
  const ring = parseKeyRing(config.KEY_RING.reveal());
  // A pool of its own: a transaction that waits for a data key must not wait for other
  // transactions.
  const dataKeys = connectDatabase({
    url: databaseUrl,
    app: `${app}-keys`,
    connectionsMax: 2,
    onIdleError: onFault('an idle connection to Postgres broke'),
  });
  const sealer = new Sealer(ring, dataKeyTable(dataKeys));
  const keyUses = new KeyUses(dataKeys, onFault('the last use of a key was not recorded'));
  const definitions = connectDefinitions({
    app,
    databaseUrl,
    redis: config,
    ring,
    writes,
    postgresAwayMaxMs,
    onFault: onFault('definitions could not be followed'),
    onRestored: onFault(
      'this database was restored, or lacks what was seen of it: nothing is served from it before npm run after-restore, see docs/backup.md',
    ),
  });
  const close = async (): Promise<void> => {
    await definitions.close();
    await keyUses.stop();
    await dataKeys.close();
  };
  const keyHash = await createKeyHash(sealer).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return { ring, sealer, keyHash, keyUses, definitions, close };
}
