import type { QueryRunner } from 'typeorm';
import { shortWaits } from './build-index';
import type { Migration } from './migration';

/** Null: the values of the token may go anywhere. No row is written again. */
export class BindTokensToDestinations0000000000021 implements Migration {
  readonly kind = 'expand';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits('tokens'));
    await queryRunner.query('ALTER TABLE tokens ADD COLUMN destinations text[]');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits('tokens'));
    await queryRunner.query('ALTER TABLE tokens DROP COLUMN destinations');
  }
}
