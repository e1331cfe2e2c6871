import type { MigrationInterface, QueryRunner } from 'typeorm';

export class RecordKeyUses0000000000010 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // Runs as the owner, because it writes the keys of all tenants together. Neither role can read
    // or change anything else through it. A key is written once a minute, however many processes
    // see it. A row locked by another transaction is left for the next use, so nothing waits.
    await queryRunner.query(`
      CREATE FUNCTION record_key_uses(hashes text[]) RETURNS void
      LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
        UPDATE application_keys SET last_used_at = now() WHERE id IN (
          SELECT id FROM application_keys WHERE key_hash = ANY (hashes)
            AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')
          FOR UPDATE SKIP LOCKED)
      $$;
      REVOKE ALL ON FUNCTION record_key_uses(text[]) FROM PUBLIC;
      GRANT EXECUTE ON FUNCTION record_key_uses(text[]) TO glovebox_management, glovebox_data`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP FUNCTION record_key_uses(text[])`);
  }
}
