import type { QueryRunner } from 'typeorm';
import { shortWaits } from './build-index';
import type { Migration } from './migration';

/** Whose files a deployment put in force, where several folders deploy to one tenant. */
export class NameProjects0000000000020 implements Migration {
  readonly kind = 'expand';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `${shortWaits('deployments')}; ALTER TABLE deployments ADD COLUMN project text`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `${shortWaits('deployments')}; ALTER TABLE deployments DROP COLUMN project`,
    );
  }
}
