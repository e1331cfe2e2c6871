import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Steps are sealed like the configuration, because one may append a destination's secret. */
export class AddStepsToProxies0000000000028 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE proxies ADD COLUMN steps bytea`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE proxies DROP COLUMN steps`);
  }
}
