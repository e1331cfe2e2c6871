import { dataKeyTable, KeyUses, readerVersion } from '@glovebox/database';
import {
  connectDefinitions,
  definitionConnections,
  type DefinitionConnection,
} from '@glovebox/definitions';
import { createKeyHash, parseKeyRing, Sealer, type KeyHash, type KeyRing } from '@glovebox/seal';
import type { Logger, Secret } from '@glovebox/service-host';
import type { RedisPlace } from '@glovebox/store-urls';
import { tellOfProcess, type LiveRunner } from './live-processes';
import { schemaConnections, type SchemaWatch } from './schema-watch';

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
  readonly config: RedisPlace & {
    readonly DATABASE_URL: Secret;
    readonly DATABASE_CONNECTIONS: number;
    readonly KEY_RING: Secret;
  };
  /** Connections to Postgres beside those for what tenants ask for. */
  readonly moreConnections?: number;
  /** The runners that the process is connected to. */
  readonly runners?: () => readonly LiveRunner[];
  /** See connectDefinitions. */
  readonly writes?: boolean;
  readonly postgresAwayMaxMs?: number;
  readonly logger: Logger;
  readonly onFault: (what: string) => (error: unknown) => void;
}): Promise<Stores> {
  const { app, schema, config, writes = false, postgresAwayMaxMs = 0, logger, onFault } = options;
  const { moreConnections = 0, runners = () => [] } = options;
  const databaseUrl = config.DATABASE_URL.reveal();
  const ring = parseKeyRing(config.KEY_RING.reveal());
  const sealer = new Sealer(ring, dataKeyTable(schema.sql));
  const keyUses = new KeyUses(schema.sql, onFault('the last use of a key was not recorded'));
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
    onNewer: (newer) =>
      logger.warn(
        { ...newer, readerVersion },
        'a newer release wrote a definition: its calls get 503 newer_definition from this process',
      ),
  });
  const connections =
    config.DATABASE_CONNECTIONS + schemaConnections + definitionConnections + moreConnections;
  const telling = tellOfProcess(definitions, { app, connections }, runners);
  const close = async (): Promise<void> => {
    await telling.stop();
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
