import type { QueryRunner } from 'typeorm';

/**
 * Builds an index while its table is read and written, and first drops an index of that name. Works
 * only in a migration without a transaction. May be repeated after a failure, which leaves an index
 * that nothing uses.
 */
export async function buildIndex(
  queryRunner: QueryRunner,
  name: string,
  definition: string,
  { unique = false } = {},
): Promise<void> {
  const statements = [
    `DROP INDEX CONCURRENTLY IF EXISTS ${name}_new`,
    `CREATE ${unique ? 'UNIQUE ' : ''}INDEX CONCURRENTLY ${name}_new ON ${definition}`,
    `DROP INDEX CONCURRENTLY IF EXISTS ${name}`,
    `ALTER INDEX ${name}_new RENAME TO ${name}`,
  ];
  for (const statement of statements) await queryRunner.query(statement);
}

/**
 * Builds an index of a partitioned log while it is read and written. May be repeated after a
 * failure. A partition that is made meanwhile gets its part by itself.
 */
export async function buildLogIndex(
  queryRunner: QueryRunner,
  log: string,
  name: string,
  columns: string,
): Promise<void> {
  await withoutLongWaits(
    queryRunner,
    [log],
    [`DROP INDEX IF EXISTS ${name}`, `CREATE INDEX ${name} ON ONLY ${log} ${columns}`],
  );
  const partitions = (await queryRunner.query(
    `SELECT c.relname AS partition FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = $1::regclass AND NOT EXISTS (
       SELECT FROM pg_index x JOIN pg_inherits part ON part.inhrelid = x.indexrelid
       WHERE x.indrelid = c.oid AND part.inhparent = $2::regclass)`,
    [log, name],
  )) as { partition: string }[];
  for (const { partition } of partitions) {
    const part = `${partition}${name.slice(log.length)}`;
    await buildIndex(queryRunner, part, `${partition} ${columns}`);
    const attach = `ALTER INDEX ${name} ATTACH PARTITION ${part}`;
    await withoutLongWaits(queryRunner, [partition], [attach]);
  }
}

/**
 * The same for a migration in a transaction that changes these tables, until its end. A table that is being copied or read for
 * long would stand still for everybody: the migration fails instead, and is repeated later.
 */
export const shortWaits = (...tables: readonly string[]): string =>
  [`SET LOCAL lock_timeout = '2s'`, ...tables.map(withoutVacuum)].join(';');

/**
 * Autovacuum leaves a table only after it was waited for a second (`deadlock_timeout`). This lock
 * keeps it out, and no writer waits behind it: what locks writers out comes later, and at once.
 */
const withoutVacuum = (table: string): string =>
  `LOCK TABLE ${table} IN SHARE UPDATE EXCLUSIVE MODE`;

/**
 * Changes these tables, and gives up on a lock that does not come soon, because every writer would
 * wait behind it. The statements are one transaction.
 */
export async function withoutLongWaits(
  queryRunner: QueryRunner,
  tables: readonly string[],
  statements: readonly string[],
): Promise<void> {
  await queryRunner.query(`SET lock_timeout = '2s'`);
  try {
    await queryRunner.query([...tables.map(withoutVacuum), ...statements].join(';'));
  } finally {
    await queryRunner.query('RESET lock_timeout');
  }
}
