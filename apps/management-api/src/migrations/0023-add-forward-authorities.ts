import type { QueryRunner } from 'typeorm';
import { shortWaits } from './build-index';
import type { Migration } from './migration';

/** What signs the certificates that a tenant's clients see in forward mode, sealed. */
export class AddForwardAuthorities0000000000023 implements Migration {
  readonly kind = 'expand';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits('tenants'));
    await queryRunner.query('ALTER TABLE tenants ADD COLUMN forward_authorities bytea');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits('tenants'));
    await queryRunner.query('ALTER TABLE tenants DROP COLUMN forward_authorities');
  }
}
