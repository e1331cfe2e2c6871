import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex } from './build-index';

/**
 * `reactor_runs` and `webhook_deliveries` are the queues: what has not ended. Their rows are listed
 * by id, and a webhook keeps the list of its attempts. `reactor_runs.result` stays: workers of the
 * release before still write it.
 */
export class ListWaitingWork0000000000033 implements MigrationInterface {
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE webhook_deliveries
        ADD COLUMN IF NOT EXISTS reactor_id uuid,
        ADD COLUMN IF NOT EXISTS attempt_log jsonb NOT NULL DEFAULT '[]'`);
    await buildIndex(queryRunner, 'reactor_runs_of_tenant', 'reactor_runs (tenant_id, id)');
    await buildIndex(
      queryRunner,
      'webhook_deliveries_of_tenant',
      'webhook_deliveries (tenant_id, id)',
    );
    // No statement uses these two.
    await queryRunner.query('DROP INDEX CONCURRENTLY IF EXISTS reactor_runs_newest');
    await queryRunner.query('DROP INDEX CONCURRENTLY IF EXISTS webhook_deliveries_of_run');
    // The management API puts an ended webhook back into the queue, for its own tenant alone.
    await queryRunner.query('GRANT INSERT ON webhook_deliveries TO glovebox_management');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      REVOKE INSERT ON webhook_deliveries FROM glovebox_management;
      CREATE INDEX webhook_deliveries_of_run ON webhook_deliveries (run_id);
      DROP INDEX webhook_deliveries_of_tenant;
      CREATE INDEX webhook_deliveries_of_tenant ON webhook_deliveries (tenant_id);
      ALTER TABLE webhook_deliveries DROP COLUMN attempt_log, DROP COLUMN reactor_id;
      DROP INDEX reactor_runs_of_tenant;
      CREATE INDEX reactor_runs_newest ON reactor_runs (tenant_id, reactor_id, created_at DESC)`);
  }
}
