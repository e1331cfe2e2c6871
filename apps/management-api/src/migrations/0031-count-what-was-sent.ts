import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex } from './build-index';

/** Counts the tries of a webhook that sent nothing, and finds the next due row by receiver. */
export class CountWhatWasSent0000000000031 implements MigrationInterface {
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `ALTER TABLE webhook_deliveries
         ADD COLUMN IF NOT EXISTS unsent_tries integer NOT NULL DEFAULT 0`,
    );
    await buildIndex(
      queryRunner,
      'webhook_deliveries_of_receiver',
      `webhook_deliveries (tenant_id, coalesce(receiver, tenant_id::text), next_attempt_at)
       WHERE status = 'pending'`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX webhook_deliveries_of_receiver;
      ALTER TABLE webhook_deliveries DROP COLUMN unsent_tries`);
  }
}
