import type { MigrationInterface, QueryRunner } from 'typeorm';

const tables = [
  'applications',
  'application_keys',
  'reactor_formulas',
  'reactors',
  'proxies',
] as const;

export class CreateResources0000000000002 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE tenants (
        id uuid PRIMARY KEY,
        name text NOT NULL,
        settings jsonb NOT NULL,
        webhook_secrets bytea NOT NULL,
        created_at timestamptz(3) NOT NULL,
        modified_by uuid,
        modified_at timestamptz(3)
      )`);
    await queryRunner.query(`
      CREATE TABLE applications (
        id uuid PRIMARY KEY,
        tenant_id uuid NOT NULL CONSTRAINT applications_tenant_fk REFERENCES tenants,
        name text NOT NULL,
        type text NOT NULL,
        permissions text[] NOT NULL,
        rules jsonb NOT NULL,
        expires_at timestamptz(3),
        created_by uuid,
        created_at timestamptz(3) NOT NULL,
        modified_by uuid,
        modified_at timestamptz(3)
      );
      CREATE INDEX applications_newest ON applications (tenant_id, created_at DESC, id)`);
    await queryRunner.query(`
      CREATE TABLE application_keys (
        id uuid PRIMARY KEY,
        tenant_id uuid NOT NULL CONSTRAINT application_keys_tenant_fk REFERENCES tenants,
        application_id uuid NOT NULL
          CONSTRAINT application_keys_application_fk REFERENCES applications ON DELETE CASCADE,
        key_hash text NOT NULL CONSTRAINT application_keys_hash_unique UNIQUE,
        created_by uuid,
        created_at timestamptz(3) NOT NULL,
        last_used_at timestamptz(3)
      );
      CREATE INDEX application_keys_of_application ON application_keys (application_id)`);
    await queryRunner.query(`
      CREATE TABLE reactor_formulas (
        id uuid PRIMARY KEY,
        tenant_id uuid NOT NULL CONSTRAINT reactor_formulas_tenant_fk REFERENCES tenants,
        type text NOT NULL,
        name text NOT NULL,
        description text,
        icon text,
        code text NOT NULL,
        configuration jsonb NOT NULL,
        request_parameters jsonb NOT NULL,
        runtime text NOT NULL,
        created_by uuid,
        created_at timestamptz(3) NOT NULL,
        modified_by uuid,
        modified_at timestamptz(3)
      );
      CREATE INDEX reactor_formulas_newest ON reactor_formulas (tenant_id, created_at DESC, id)`);
    // No foreign key on application_id: an application can be deleted while something uses it.
    await queryRunner.query(`
      CREATE TABLE reactors (
        id uuid PRIMARY KEY,
        tenant_id uuid NOT NULL CONSTRAINT reactors_tenant_fk REFERENCES tenants,
        name text NOT NULL,
        formula_id uuid NOT NULL CONSTRAINT reactors_formula_fk REFERENCES reactor_formulas,
        application_id uuid,
        configuration bytea NOT NULL,
        isolation text NOT NULL,
        created_by uuid,
        created_at timestamptz(3) NOT NULL,
        modified_by uuid,
        modified_at timestamptz(3)
      );
      CREATE INDEX reactors_newest ON reactors (tenant_id, created_at DESC, id);
      CREATE INDEX reactors_of_formula ON reactors (formula_id)`);
    await queryRunner.query(`
      CREATE TABLE proxies (
        id uuid PRIMARY KEY,
        tenant_id uuid NOT NULL CONSTRAINT proxies_tenant_fk REFERENCES tenants,
        name text NOT NULL,
        key bytea NOT NULL,
        key_hash text NOT NULL CONSTRAINT proxies_key_hash_unique UNIQUE,
        destination_url text NOT NULL,
        require_auth boolean NOT NULL,
        detokenize boolean NOT NULL,
        request_transform jsonb,
        response_transform jsonb,
        application_id uuid,
        configuration bytea,
        isolation text NOT NULL,
        timeout_ms integer,
        created_by uuid,
        created_at timestamptz(3) NOT NULL,
        modified_by uuid,
        modified_at timestamptz(3)
      );
      CREATE INDEX proxies_newest ON proxies (tenant_id, created_at DESC, id)`);

    await queryRunner.query(`
      GRANT SELECT, INSERT, UPDATE, DELETE ON tenants TO glovebox_management;
      ALTER TABLE tenants ENABLE ROW LEVEL SECURITY;
      CREATE POLICY tenant ON tenants TO glovebox_management
        USING (id = current_tenant()) WITH CHECK (id = current_tenant())`);
    for (const table of tables) {
      await queryRunner.query(`
        GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO glovebox_management;
        ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
        CREATE POLICY tenant ON ${table} TO glovebox_management
          USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant())`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of tables.toReversed()) await queryRunner.query(`DROP TABLE ${table}`);
    await queryRunner.query(`DROP TABLE tenants`);
  }
}
