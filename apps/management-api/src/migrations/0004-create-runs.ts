import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateRuns0000000000004 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE reactor_runs (
        id uuid PRIMARY KEY,
        tenant_id uuid NOT NULL,
        reactor_id uuid NOT NULL,
        actor_id uuid NOT NULL,
        status text NOT NULL CHECK (status IN ('pending', 'running', 'completed', 'failed')),
        arguments bytea NOT NULL,
        callback_url bytea NOT NULL,
        timeout_ms integer NOT NULL,
        trace_id text NOT NULL,
        fence bigint NOT NULL DEFAULT 0,
        faults integer NOT NULL DEFAULT 0,
        result bytea,
        created_at timestamptz(3) NOT NULL,
        started_at timestamptz(3),
        finished_at timestamptz(3),
        lease_until timestamptz(3)
      );
      CREATE INDEX reactor_runs_pending ON reactor_runs (created_at) WHERE status = 'pending';
      CREATE INDEX reactor_runs_running ON reactor_runs (lease_until) WHERE status = 'running';
      CREATE INDEX reactor_runs_newest ON reactor_runs (tenant_id, reactor_id, created_at DESC)`);
    await queryRunner.query(`
      CREATE TABLE webhook_deliveries (
        id uuid PRIMARY KEY,
        tenant_id uuid NOT NULL,
        run_id uuid NOT NULL,
        webhook_id text NOT NULL,
        callback_url bytea NOT NULL,
        body bytea NOT NULL,
        status text NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
        attempts integer NOT NULL DEFAULT 0,
        next_attempt_at timestamptz(3) NOT NULL,
        fence bigint NOT NULL DEFAULT 0,
        last_outcome text,
        created_at timestamptz(3) NOT NULL,
        delivered_at timestamptz(3)
      );
      CREATE INDEX webhook_deliveries_due ON webhook_deliveries (status, next_attempt_at);
      CREATE INDEX webhook_deliveries_of_run ON webhook_deliveries (run_id)`);
    for (const table of ['reactor_runs', 'webhook_deliveries']) {
      await queryRunner.query(`
        GRANT SELECT, DELETE ON ${table} TO glovebox_management;
        GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO glovebox_data;
        ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
        CREATE POLICY tenant ON ${table} TO glovebox_management
          USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());
        CREATE POLICY data_plane ON ${table} TO glovebox_data USING (true) WITH CHECK (true)`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE webhook_deliveries, reactor_runs`);
  }
}
