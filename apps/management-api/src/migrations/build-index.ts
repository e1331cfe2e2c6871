import type { QueryRunner } from 'typeorm';

/**
 * Builds an index while its table is read and written, and drops an older one of that name when it
 * is there. Only in a migration without a transaction. Where it broke off it may be repeated: it
 * leaves an index behind that nothing uses.
 */
export async function buildIndex(
  queryRunner: QueryRunner,
  name: string,
  definition: string,
): Promise<void> {
  const statements = [
    `DROP INDEX CONCURRENTLY IF EXISTS ${name}_new`,
    `CREATE INDEX CONCURRENTLY ${name}_new ON ${definition}`,
    `DROP INDEX CONCURRENTLY IF EXISTS ${name}`,
    `ALTER INDEX ${name}_new RENAME TO ${name}`,
  ];
  for (const statement of statements) await queryRunner.query(statement);
}
