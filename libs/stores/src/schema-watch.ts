import { setTimeout as delay } from 'node:timers/promises';
import { connectDatabase, type Database } from '@glovebox/database';
import {
  createLogger,
  describeError,
  every,
  type Logger,
  type RepeatedWork,
  type Secret,
} from '@glovebox/service-host';
import { knownMigrations } from './known-migrations';

export const schemaConnections = 1;
/** A process that waits for a migration goes on soon after it. */
const askAgainMs = 1_000;

interface DoneMigration {
  readonly name: string;
  readonly kind: string;
}

interface SchemaVerdict {
  /** Up, or what is wrong in a few words. */
  readonly state: string;
  /** What the operator has to do. Undefined: nothing. */
  readonly remedy?: string;
}

/**
 * Compares the schema with the one that this release's code was written for, at the start and every
 * minute. A process is ready while the schema has all that the code needs, and nothing was taken
 * away since (docs/adr/0087).
 */
export class SchemaWatch {
  #verdict: SchemaVerdict = { state: 'unknown' };
  #repeated: RepeatedWork | undefined;

  constructor(
    private readonly options: {
      /** Connections of the process itself, which no tenant can keep busy. */
      readonly sql: Database;
      readonly logger: Logger;
      readonly checkEveryMs?: number;
    },
  ) {}

  /** The last verdict. While Postgres is away, it stays. */
  readonly state = (): Promise<string> => Promise.resolve(this.#verdict.state);

  get sql(): Database {
    return this.options.sql;
  }

  /** Resolves when the code can use the schema. Rejects if Postgres does not answer at first. */
  async known(): Promise<void> {
    await this.#check();
    const { checkEveryMs = 60_000 } = this.options;
    this.#repeated = every(checkEveryMs, () => this.#check(), { onFault: this.#onFault });
    while (this.#verdict.state !== 'up') {
      await delay(askAgainMs);
      await this.#check().catch(this.#onFault);
    }
  }

  /** Throws if the code cannot use the schema. */
  async require(): Promise<void> {
    if (this.#verdict.state === 'unknown') await this.#check();
    if (this.#verdict.remedy !== undefined) throw new Error(this.#verdict.remedy);
  }

  async close(): Promise<void> {
    await this.#repeated?.stop();
    await this.sql.close();
  }

  readonly #onFault = (error: unknown): void =>
    this.options.logger.warn({ error: describeError(error) }, 'the schema could not be looked at');

  async #check(): Promise<void> {
    const verdict = await judgeSchema(this.sql);
    const before = this.#verdict;
    if (verdict.state === before.state) return;
    this.#verdict = verdict;
    const { logger } = this.options;
    if (verdict.remedy !== undefined) {
      logger.error({ schema: verdict.state }, `not ready: ${verdict.remedy}`);
    } else if (before.remedy !== undefined) {
      logger.info({}, 'the schema is one that this release knows');
    }
  }
}

/** Makes the table that is asked. */
const recording = 'RecordMigrations0000000000007';
const migrateUp =
  'Run "npm run db:migrate -- up", with images migrate.main.js of the management API';

/** Compares what was done with what this release knows. */
export async function judgeSchema(sql: Database): Promise<SchemaVerdict> {
  const done = await doneMigrations(sql);
  if (done === 'may not be read') {
    return {
      state: 'unknown: done_migrations may not be read',
      remedy:
        'this role may not read the table done_migrations. Run "GRANT SELECT ON done_migrations TO ' +
        'glovebox_management, glovebox_data, glovebox_rotation" as glovebox_owner. If a dump was read ' +
        'back without its rights, all others are missing, too: read it back with them',
    };
  }
  if (done === 'is not there') {
    return {
      state: `behind: ${recording} is missing`,
      remedy:
        `the database lacks ${recording}, and may lack others: it is older than the table of ` +
        `migrations, or empty. ${migrateUp}`,
    };
  }
  const names = new Set(done.map(({ name }) => name));
  const missing = knownMigrations.filter((name) => !names.has(name));
  if (missing[0] !== undefined) {
    return {
      state: `behind: ${missing[0]} is missing`,
      remedy:
        `the database lacks ${missing.length} migrations of this release, from ${missing[0]} on. ` +
        migrateUp,
    };
  }
  const contraction = done.find(
    ({ name, kind }) => kind !== 'expand' && !knownMigrations.includes(name),
  );
  if (!contraction) return { state: 'up' };
  return {
    state: `ahead: ${contraction.name} is unknown and no expansion`,
    remedy:
      `a newer release has done the migration ${contraction.name}, which takes away what this ` +
      'release needs. Start that release, or take the migration back with it: ' +
      '"npm run db:migrate -- down"',
  };
}

const [undefinedTable, insufficientPrivilege] = ['42P01', '42501'];

async function doneMigrations(
  sql: Database,
): Promise<DoneMigration[] | 'is not there' | 'may not be read'> {
  try {
    return await sql.query<DoneMigration>('SELECT name, kind FROM done_migrations');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === undefinedTable) return 'is not there';
    if (code === insufficientPrivilege) return 'may not be read';
    throw error;
  }
}

/** Opens the connections of a process for itself: the schema, data keys and last uses of keys. */
export function watchSchema(
  app: string,
  config: { readonly DATABASE_URL: Secret; readonly LOG_LEVEL: string },
): SchemaWatch {
  const logger = createLogger({ app, level: config.LOG_LEVEL });
  const sql = connectDatabase({
    url: config.DATABASE_URL.reveal(),
    // A pool of its own: a transaction that waits for a data key must not wait for other
    // transactions.
    app: `${app}-keys`,
    connectionsMax: schemaConnections,
    onIdleError: (error) =>
      logger.warn({ error: describeError(error) }, 'an idle connection to Postgres broke'),
  });
  return new SchemaWatch({ sql, logger });
}
