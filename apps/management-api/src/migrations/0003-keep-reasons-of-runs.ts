import type { MigrationInterface, QueryRunner } from 'typeorm';
import { shortWaits } from './build-index';

export class KeepReasonsOfRuns0000000000003 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits);
    await queryRunner.query('ALTER TABLE ended_runs ADD COLUMN reason bytea');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE ended_runs DROP COLUMN reason');
  }
}
