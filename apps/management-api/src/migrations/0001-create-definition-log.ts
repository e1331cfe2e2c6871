import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateDefinitionLog0000000000001 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // Null where no tenant was entered: then every policy below compares with null and shows nothing.
    await queryRunner.query(`
      CREATE FUNCTION current_tenant() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE AS
      $$ SELECT NULLIF(current_setting('glovebox.tenant_id', true), '')::uuid $$`);

    await queryRunner.query(`
      CREATE TABLE definition_head (
        singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
        epoch uuid NOT NULL DEFAULT gen_random_uuid(),
        version bigint NOT NULL DEFAULT 0
      )`);
    await queryRunner.query(`INSERT INTO definition_head DEFAULT VALUES`);
    await queryRunner.query(`
      CREATE TABLE definition_log (
        version bigint NOT NULL UNIQUE,
        kind text NOT NULL,
        id uuid NOT NULL,
        tenant_id uuid NOT NULL,
        payload bytea,
        PRIMARY KEY (kind, id)
      )`);
    await queryRunner.query(`
      GRANT SELECT, UPDATE (version) ON definition_head TO glovebox_management;
      GRANT SELECT ON definition_head TO glovebox_data;
      GRANT SELECT, INSERT, UPDATE ON definition_log TO glovebox_management;
      GRANT SELECT ON definition_log TO glovebox_data`);
    // Each process reads the definitions of all tenants but writes those of one.
    await queryRunner.query(`
      ALTER TABLE definition_log ENABLE ROW LEVEL SECURITY;
      CREATE POLICY followed ON definition_log FOR SELECT
        TO glovebox_management, glovebox_data USING (true);
      CREATE POLICY appended ON definition_log FOR INSERT
        TO glovebox_management WITH CHECK (tenant_id = current_tenant());
      CREATE POLICY replaced ON definition_log FOR UPDATE
        TO glovebox_management USING (tenant_id = current_tenant())`);

    await queryRunner.query(`
      CREATE TABLE data_keys (
        id uuid PRIMARY KEY,
        tenant_id uuid NOT NULL,
        period text NOT NULL,
        master_version integer NOT NULL,
        wrapped bytea NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        UNIQUE (tenant_id, period)
      )`);
    await queryRunner.query(
      `GRANT SELECT, INSERT ON data_keys TO glovebox_management, glovebox_data`,
    );
    // A key is read by id before its tenant is known, and is wrapped for its tenant alone. The keys
    // of the installation have no tenant.
    await queryRunner.query(`
      ALTER TABLE data_keys ENABLE ROW LEVEL SECURITY;
      CREATE POLICY fetched ON data_keys
        TO glovebox_management, glovebox_data USING (true) WITH CHECK (true)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE data_keys, definition_log, definition_head`);
    await queryRunner.query(`DROP FUNCTION current_tenant()`);
  }
}
