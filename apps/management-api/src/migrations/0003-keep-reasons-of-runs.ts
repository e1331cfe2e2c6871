import type { QueryRunner } from 'typeorm';
import { shortWaits } from './build-index';
import type { Migration } from './migration';

export class KeepReasonsOfRuns0000000000003 implements Migration {
  readonly kind = 'expand';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits('ended_runs'));
    await queryRunner.query('ALTER TABLE ended_runs ADD COLUMN reason bytea');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits('ended_runs'));
    await queryRunner.query('ALTER TABLE ended_runs DROP COLUMN reason');
  }
}
