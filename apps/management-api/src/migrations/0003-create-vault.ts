import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateVault0000000000003 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE tokens (
        tenant_id uuid NOT NULL,
        id text NOT NULL,
        type text NOT NULL,
        container text NOT NULL,
        data bytea NOT NULL,
        mask bytea,
        metadata jsonb,
        fingerprint text,
        expires_at timestamptz(3),
        created_by uuid,
        created_at timestamptz(3) NOT NULL,
        modified_by uuid,
        modified_at timestamptz(3),
        PRIMARY KEY (tenant_id, id)
      );
      CREATE INDEX tokens_expired ON tokens (expires_at) WHERE expires_at IS NOT NULL`);
    await queryRunner.query(`
      CREATE TABLE audit_log (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        tenant_id uuid NOT NULL,
        at timestamptz(3) NOT NULL DEFAULT now(),
        actor_id uuid,
        operation text NOT NULL,
        entity_type text NOT NULL,
        entity_id text NOT NULL,
        outcome text NOT NULL,
        trace_id text NOT NULL,
        token_ids text[],
        destination_host text
      );
      CREATE INDEX audit_log_newest ON audit_log (tenant_id, id DESC)`);
    // No role may change a line of the audit log, and the data plane may not read it either.
    await queryRunner.query(`
      GRANT SELECT, INSERT, UPDATE, DELETE ON tokens TO glovebox_management, glovebox_data;
      GRANT SELECT, INSERT ON audit_log TO glovebox_management;
      GRANT INSERT ON audit_log TO glovebox_data`);
    for (const table of ['tokens', 'audit_log']) {
      await queryRunner.query(`
        ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
        CREATE POLICY tenant ON ${table} TO glovebox_management
          USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());
        CREATE POLICY data_plane ON ${table} TO glovebox_data USING (true) WITH CHECK (true)`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE audit_log, tokens`);
  }
}
