import type { MigrationInterface, QueryRunner } from 'typeorm';

const tables = ['applications', 'reactor_formulas', 'reactors', 'proxies'] as const;

/**
 * Lists are counted, and searched by name, in the index alone: with the name in it, none of the
 * (much larger) rows is read but those of the page.
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
