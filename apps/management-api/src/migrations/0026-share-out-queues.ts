import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex } from './build-index';

/** Finds by index the next due row of a tenant, the tenants with due rows, and old rows. */
export class ShareOutQueues0000000000026 implements MigrationInterface {
  // Indexes of large tables are built while the tables are written, which is impossible in a
  // transaction. Each step can be repeated: after a failure, the next run starts again.
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE reactor_runs ADD COLUMN IF NOT EXISTS due_at timestamptz NOT NULL DEFAULT now()',
    );
    await buildIndex(
      queryRunner,
      'reactor_runs_due',
      `reactor_runs (tenant_id, due_at) WHERE status = 'pending'`,
    );
    await buildIndex(
      queryRunner,
      'reactor_runs_ended',
      'reactor_runs (finished_at) WHERE finished_at IS NOT NULL',
    );
    await queryRunner.query('DROP INDEX CONCURRENTLY IF EXISTS reactor_runs_pending');
    await queryRunner.query(
      'ALTER TABLE webhook_deliveries ADD COLUMN IF NOT EXISTS receiver text',
    );
    await buildIndex(
      queryRunner,
      'webhook_deliveries_due',
      `webhook_deliveries (tenant_id, next_attempt_at) WHERE status = 'pending'`,
    );
    await buildIndex(
      queryRunner,
      'webhook_deliveries_ended',
      `webhook_deliveries (next_attempt_at) WHERE status <> 'pending'`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX webhook_deliveries_ended, webhook_deliveries_due;
      CREATE INDEX webhook_deliveries_due ON webhook_deliveries (status, next_attempt_at);
      ALTER TABLE webhook_deliveries DROP COLUMN receiver`);
    await queryRunner.query(`
      CREATE INDEX reactor_runs_pending ON reactor_runs (created_at) WHERE status = 'pending';
      DROP INDEX reactor_runs_ended, reactor_runs_due;
      ALTER TABLE reactor_runs DROP COLUMN due_at`);
  }
}
