import type { DataSource, QueryRunner } from 'typeorm';
import type { Migration } from '../migrations/migration';

/**
 * Judges on small tables what migrations would do to large ones. Every table that there was before
 * has `filledRows` rows. What a migration does in proportion to them shows in the statistics of its
 * transaction.
 */
export const filledRows = 3_000;
/** More is in proportion to the rows. A lookup of the catalogue is no user table. */
const readUnderLockMax = 100;
/** A batch. */
const changedAtOnceMax = 1_000;
const lockTimeoutMaxMs = 2_000;

export type Work = (queryRunner: QueryRunner) => Promise<unknown>;

/** A migration that a spec plants behind the real ones. */
export function plantedMigration(work: Work, inTransaction = true): new () => Migration {
  return class Planted0000000000099 implements Migration {
    readonly kind = 'expand';
    readonly transaction = inTransaction;

    async up(queryRunner: QueryRunner): Promise<void> {
      await work(queryRunner);
    }

    async down(): Promise<void> {
      // Nothing that a later case would miss.
    }
  };
}

/** Lets the source know these migrations and no others. */
export async function withMigrations(
  source: DataSource,
  known: readonly (new () => Migration)[],
): Promise<void> {
  if (source.isInitialized) await source.destroy();
  source.setOptions({ migrations: [...known] });
  await source.initialize();
}

interface Effects {
  /** Locks that writers wait for, on tables that there were before. */
  readonly locks: readonly string[];
  /** Those of them that were taken while a vacuum could be at work. */
  readonly besideVacuum: readonly string[];
  readonly read: number;
  readonly changed: number;
  readonly rewritten: readonly string[];
  readonly lockTimeoutMs: number;
}

/** Runs the migration that is next, in its own way, and throws where writers would wait for long. */
export async function judgeNext(source: DataSource, direction: 'up' | 'down'): Promise<void> {
  const migration = await nextOf(source, direction);
  const { name } = migration.constructor;
  const own = migration[direction].bind(migration);
  migration[direction] = async (queryRunner) => {
    const judged = new JudgedRunner(
      queryRunner,
      `${name} ${direction}`,
      await filesOf(queryRunner),
    );
    await own(judged.runner);
  };
  try {
    if (direction === 'down') await source.undoLastMigration({ transaction: 'each' });
    else await source.runMigrations({ transaction: 'each' });
  } finally {
    migration[direction] = own;
  }
}

async function nextOf(source: DataSource, direction: 'up' | 'down') {
  const [count] = await source.query<{ done: number }[]>(
    'SELECT count(*)::int AS done FROM migrations',
  );
  const migration = source.migrations[(count?.done ?? 0) - (direction === 'down' ? 1 : 0)];
  if (!migration) throw new Error(`no migration goes ${direction}`);
  return migration;
}

/** Looks after each statement at what the transaction has done so far. */
class JudgedRunner {
  readonly runner: QueryRunner;
  /** What the connection had done before the transaction: Postgres writes statistics off later. */
  #earlier: Pick<Effects, 'read' | 'changed'> | undefined;

  constructor(
    private readonly own: QueryRunner,
    private readonly label: string,
    private readonly files: ReadonlyMap<string, string>,
  ) {
    const query = (statement: string, values?: unknown[]): Promise<unknown> =>
      this.#query(statement, values);
    this.runner = new Proxy(own, {
      get: (target, name) => (name === 'query' ? query : Reflect.get(target, name, target)),
    });
  }

  async #query(statement: string, values?: unknown[]): Promise<unknown> {
    const { own } = this;
    // These wait for transactions and lock out no writer. They run outside transactions alone.
    if (/\bCONCURRENTLY\b/.test(statement)) return own.query(statement, values);
    // Without a transaction of the migration, each statement is one.
    const isAlone = !own.isTransactionActive;
    if (isAlone) await own.query('BEGIN');
    if (isAlone) this.#earlier = undefined;
    // After a vacuum, a scan of an index alone would read rows that no statistics count.
    if (this.#earlier === undefined) await own.query('SET LOCAL enable_indexonlyscan = off');
    this.#earlier ??= await this.#effects();
    try {
      const result: unknown = await own.query(statement, values);
      this.#judge(statement, await this.#effects());
      if (isAlone) await own.query('COMMIT');
      return result;
    } catch (error) {
      if (isAlone) await own.query('ROLLBACK');
      throw error;
    }
  }

  #judge(statement: string, effects: Effects): void {
    const refuse = (why: string): never => {
      throw new Error(
        `${this.label} ${why}, of ${filledRows} that there are:\n${statement.trim()}`,
      );
    };
    const locks = effects.locks.join(', ');
    if (effects.changed > changedAtOnceMax) {
      refuse(`changes ${effects.changed} rows in one transaction, and no batches`);
    }
    if (effects.rewritten.length > 0) refuse(`writes ${effects.rewritten.join(', ')} anew`);
    if (locks !== '' && effects.read > readUnderLockMax) {
      refuse(`reads ${effects.read} rows while writers wait for ${locks}`);
    }
    if (locks !== '' && !(effects.lockTimeoutMs > 0 && effects.lockTimeoutMs <= lockTimeoutMaxMs)) {
      refuse(`has no lock_timeout of 2 s or less while it waits for ${locks}`);
    }
    if (effects.besideVacuum.length > 0) {
      refuse(`lets writers wait behind it for a vacuum of ${effects.besideVacuum.join(', ')}`);
    }
  }

  async #effects(): Promise<Effects> {
    const before = [...this.files.keys()];
    const [found] = (await this.own.query(
      `WITH own AS (
         SELECT relation, mode FROM pg_locks
         WHERE pid = pg_backend_pid() AND relation::regclass::text = ANY ($1)),
       strong AS (
         SELECT * FROM own
         WHERE mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'))
       SELECT
         ARRAY(SELECT format('%s (%s)', relation::regclass, mode) FROM strong ORDER BY 1) AS locks,
         ARRAY(SELECT DISTINCT relation::regclass::text FROM strong WHERE relation NOT IN (
           SELECT relation FROM own WHERE mode = 'ShareUpdateExclusiveLock')) AS "besideVacuum",
         (SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::int
           FROM pg_stat_xact_user_tables WHERE relid::regclass::text = ANY ($1)) AS read,
         (SELECT coalesce(sum(n_tup_upd + n_tup_del), 0)::int
           FROM pg_stat_xact_user_tables WHERE relid::regclass::text = ANY ($1)) AS changed,
         (SELECT setting::int FROM pg_settings WHERE name = 'lock_timeout') AS "lockTimeoutMs"`,
      [before],
    )) as Omit<Effects, 'rewritten'>[];
    if (!found) throw new Error('no statistics');
    const now = await filesOf(this.own);
    const rewritten = before.filter(
      (table) => now.has(table) && now.get(table) !== this.files.get(table),
    );
    const { read, changed } = this.#earlier ?? { read: 0, changed: 0 };
    return { ...found, read: found.read - read, changed: found.changed - changed, rewritten };
  }
}

/** The file of each table. A table that is written anew gets another. */
async function filesOf(sql: Pick<QueryRunner, 'query'>): Promise<Map<string, string>> {
  const rows = (await sql.query(
    `SELECT oid::regclass::text AS name, coalesce(pg_relation_filenode(oid), 0)::text AS file
     FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
       AND relname NOT IN ('migrations', 'done_migrations')`,
  )) as { name: string; file: string }[];
  return new Map(rows.map(({ name, file }) => [name, file]));
}

/**
 * Fills every table that the apps write and that has no rows yet. The nth row of each has the same
 * ids, which satisfies all foreign keys.
 */
export async function fillTables(
  source: Pick<DataSource, 'query'>,
  rows = filledRows,
  only?: string,
): Promise<void> {
  const columns = await source.query<{ table: string; name: string; type: string }[]>(
    `SELECT c.relname AS table, attname AS name, format_type(atttypid, NULL) AS type
     FROM pg_class c JOIN pg_attribute ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
       AND attidentity = '' AND attgenerated = ''
       AND (has_table_privilege('glovebox_data', c.oid, 'INSERT')
         OR has_table_privilege('glovebox_management', c.oid, 'INSERT'))
     ORDER BY array_position('{tenants,people,applications,reactor_formulas,tokens}', relname::text),
       relname, attnum`,
  );
  for (const table of new Set(columns.map((column) => column.table))) {
    if (only !== undefined && table !== only) continue;
    const ofTable = columns.filter((column) => column.table === table);
    const [filled] = await source.query<{ some: boolean }[]>(
      `SELECT EXISTS (SELECT FROM ${table}) AS some`,
    );
    if (filled?.some) continue;
    const names = ofTable.map(({ name }) => name).join(', ');
    const values = ofTable.map(valueOf).join(', ');
    await source.query(
      `INSERT INTO ${table} (${names}) SELECT ${values} FROM generate_series(1, ${rows}) n`,
    );
  }
}

const id = `lpad(to_hex(n), 32, '0')::uuid`;

function valueOf({ table, name, type }: { table: string; name: string; type: string }): string {
  if (name === 'status' && /^(reactor_runs|webhook_deliveries)$/.test(table)) return `'pending'`;
  if (type === 'uuid') return id;
  if (type === 'text') return `${id}::text`;
  if (type === 'bytea') return `'\\x00'`;
  if (type === 'jsonb') return `'[]'`;
  if (type === 'text[]') return `ARRAY[${id}::text]`;
  if (type === 'uuid[]') return `ARRAY[${id}]`;
  if (type.endsWith('[]')) return `'{1}'`;
  if (type === 'boolean') return 'true';
  if (type.startsWith('timestamp')) return 'now()';
  return type === 'bigint' || type === 'integer' ? 'n' : '1';
}
