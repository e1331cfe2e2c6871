import type { QueryRunner } from 'typeorm';
import type { Migration } from './migration';

/** What is done, with its kind, where the apps read it. All that there was before only added. */
export class RecordMigrations0000000000007 implements Migration {
  readonly kind = 'expand';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE done_migrations (
        name text PRIMARY KEY,
        kind text NOT NULL CHECK (kind IN ('expand', 'contract'))
      );
      GRANT SELECT ON done_migrations TO glovebox_management, glovebox_data, glovebox_rotation;
      INSERT INTO done_migrations SELECT name, 'expand' FROM migrations
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE done_migrations');
  }
}
