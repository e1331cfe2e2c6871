import type { MigrationInterface, QueryRunner } from 'typeorm';

const tables = ['applications', 'reactor_formulas', 'reactors', 'proxies'] as const;

/**
 * The index contains the name, so that counting a list and searching it by name use the index
 * alone. Only the rows of the page, which are much larger, are read.
 */
export class CoverLists0000000000009 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const table of tables) {
      await queryRunner.query(`
        DROP INDEX ${table}_newest;
        CREATE INDEX ${table}_newest ON ${table} (tenant_id, created_at DESC, id) INCLUDE (name)`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of tables) {
      await queryRunner.query(`
        DROP INDEX ${table}_newest;
        CREATE INDEX ${table}_newest ON ${table} (tenant_id, created_at DESC, id)`);
    }
  }
}
