import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The next due row of a tenant, the tenants that have one, and old rows: each found by index. */
export class ShareOutQueues0000000000026 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE reactor_runs ADD COLUMN due_at timestamptz NOT NULL DEFAULT now();
      CREATE INDEX reactor_runs_due ON reactor_runs (tenant_id, due_at) WHERE status = 'pending';
      CREATE INDEX reactor_runs_ended ON reactor_runs (finished_at) WHERE finished_at IS NOT NULL;
      DROP INDEX reactor_runs_pending`);
    await queryRunner.query(`
      ALTER TABLE webhook_deliveries ADD COLUMN receiver text;
      DROP INDEX webhook_deliveries_due;
      CREATE INDEX webhook_deliveries_due ON webhook_deliveries (tenant_id, next_attempt_at)
        WHERE status = 'pending';
      CREATE INDEX webhook_deliveries_ended ON webhook_deliveries (next_attempt_at)
        WHERE status <> 'pending'`);
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
