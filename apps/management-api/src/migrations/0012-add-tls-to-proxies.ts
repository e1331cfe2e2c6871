import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AddTlsToProxies0000000000012 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE proxies ADD COLUMN tls bytea`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE proxies DROP COLUMN tls`);
  }
}
