import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sealed, as the configuration is: a step may append the secret that a destination asks for. */
export class AddStepsToProxies0000000000028 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE proxies ADD COLUMN steps bytea`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE proxies DROP COLUMN steps`);
  }
}
