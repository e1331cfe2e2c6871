import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CompleteVault0000000000013 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // The expressions of a token (mask, indexes, fingerprint) are sealed, since customers may write
    // data itself into them.
    await queryRunner.query(`ALTER TABLE tokens ADD COLUMN options bytea`);
    // Counting and paging use the index alone.
    await queryRunner.query(`
      CREATE INDEX tokens_newest ON tokens (tenant_id, created_at DESC, id)
        INCLUDE (container, type, expires_at);
      CREATE INDEX tokens_fingerprint ON tokens (tenant_id, fingerprint)`);
    // Search terms of tokens as keyed hashes. Metadata is found here as well: under row-level
    // security an index can answer equality of texts, but not containment in JSON.
    await queryRunner.query(`
      CREATE TABLE token_terms (
        tenant_id uuid NOT NULL,
        term text NOT NULL,
        token_id text NOT NULL,
        PRIMARY KEY (tenant_id, term, token_id),
        FOREIGN KEY (tenant_id, token_id) REFERENCES tokens ON DELETE CASCADE
      );
      CREATE INDEX token_terms_of_token ON token_terms (tenant_id, token_id);
      GRANT SELECT, INSERT, DELETE ON token_terms TO glovebox_management, glovebox_data;
      ALTER TABLE token_terms ENABLE ROW LEVEL SECURITY;
      CREATE POLICY tenant ON token_terms TO glovebox_management
        USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());
      CREATE POLICY data_plane ON token_terms TO glovebox_data USING (true) WITH CHECK (true)`);
    // Runs as the owner, for all tenants at once, in parts.
    await queryRunner.query(`
      CREATE FUNCTION delete_expired_tokens(rows_max integer) RETURNS bigint
      LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
        WITH deleted AS (
          DELETE FROM tokens WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM tokens WHERE expires_at <= now() ORDER BY expires_at LIMIT rows_max
            FOR UPDATE SKIP LOCKED)) RETURNING 1)
        SELECT count(*) FROM deleted
      $$;
      REVOKE ALL ON FUNCTION delete_expired_tokens(integer) FROM PUBLIC;
      GRANT EXECUTE ON FUNCTION delete_expired_tokens(integer) TO glovebox_management`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP FUNCTION delete_expired_tokens(integer)`);
    await queryRunner.query(`DROP TABLE token_terms`);
    await queryRunner.query(`
      DROP INDEX tokens_fingerprint, tokens_newest;
      ALTER TABLE tokens DROP COLUMN options`);
  }
}
