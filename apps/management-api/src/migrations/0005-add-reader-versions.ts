import type { QueryRunner } from 'typeorm';
import { shortWaits } from './build-index';
import type { Migration } from './migration';

/**
 * Rows of queues say which version of a worker understands them (docs/adr/0083). A default that is
 * constant is no part of the rows: they are not written again.
 */
export class AddReaderVersions0000000000005 implements Migration {
  readonly kind = 'expand';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits('reactor_runs', 'webhook_deliveries', 'ended_deliveries'));
    await queryRunner.query(`
      ALTER TABLE reactor_runs ADD COLUMN reader_version smallint NOT NULL DEFAULT 1;
      ALTER TABLE webhook_deliveries ADD COLUMN reader_version smallint NOT NULL DEFAULT 1;
      ALTER TABLE ended_deliveries ADD COLUMN reader_version smallint NOT NULL DEFAULT 1;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits('reactor_runs', 'webhook_deliveries', 'ended_deliveries'));
    await queryRunner.query(`
      ALTER TABLE ended_deliveries DROP COLUMN reader_version;
      ALTER TABLE webhook_deliveries DROP COLUMN reader_version;
      ALTER TABLE reactor_runs DROP COLUMN reader_version;
    `);
  }
}
