import type { QueryRunner } from 'typeorm';
import { shortWaits } from './build-index';
import type { Migration } from './migration';

/** A default that is constant is no part of the rows: they are not written again. */
export class AddAllowedOrigins0000000000004 implements Migration {
  readonly kind = 'expand';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits('applications', 'proxies'));
    await queryRunner.query(`
      ALTER TABLE applications ADD COLUMN allowed_origins text[] NOT NULL DEFAULT '{}';
      ALTER TABLE proxies ADD COLUMN allowed_origins text[] NOT NULL DEFAULT '{}';
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits('applications', 'proxies'));
    await queryRunner.query(`
      ALTER TABLE proxies DROP COLUMN allowed_origins;
      ALTER TABLE applications DROP COLUMN allowed_origins;
    `);
  }
}
