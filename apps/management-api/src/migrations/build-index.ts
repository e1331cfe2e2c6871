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
