import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateIdempotencyKeys0000000000007 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // Both hashes are keyed: a body may hold a card number, which a bare hash would give away.
    await queryRunner.query(`
      CREATE TABLE idempotency_keys (
        tenant_id uuid NOT NULL,
        application_id uuid NOT NULL,
        path text NOT NULL,
        key_hash text NOT NULL,
        body_hash text NOT NULL,
        owner uuid NOT NULL,
        lease_until timestamptz(3) NOT NULL,
        status smallint,
        response bytea,
        created_at timestamptz(3) NOT NULL,
        PRIMARY KEY (application_id, path, key_hash)
      );
      CREATE INDEX idempotency_keys_oldest ON idempotency_keys (created_at)`);
    await queryRunner.query(`
      GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_keys TO glovebox_management;
      ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY;
      CREATE POLICY tenant ON idempotency_keys TO glovebox_management
        USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant())`);
    // Runs as the owner, to whom row-level security does not apply. It deletes expired rows of all
    // tenants at once, and shows no tenant's rows to anyone.
    await queryRunner.query(`
      CREATE FUNCTION delete_old_idempotency_keys() RETURNS void
      LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
        DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM idempotency_keys
          WHERE created_at < now() - interval '24 hours' ORDER BY created_at LIMIT 10000))
      $$;
      REVOKE ALL ON FUNCTION delete_old_idempotency_keys() FROM PUBLIC;
      GRANT EXECUTE ON FUNCTION delete_old_idempotency_keys() TO glovebox_management`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP FUNCTION delete_old_idempotency_keys()`);
    await queryRunner.query(`DROP TABLE idempotency_keys`);
  }
}
