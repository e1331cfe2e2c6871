import type { QueryRunner } from 'typeorm';
import { shortWaits } from './build-index';
import type { Migration } from './migration';

/** A default that is constant is no part of the rows: they are not written again. */
export class AddScrub0000000000025 implements Migration {
  readonly kind = 'expand';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits('proxies'));
    await queryRunner.query('ALTER TABLE proxies ADD COLUMN scrub boolean NOT NULL DEFAULT false');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits('proxies'));
    await queryRunner.query('ALTER TABLE proxies DROP COLUMN scrub');
  }
}
