import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets workers do the housekeeping, which was the management API's before. */
export class ClearAwayInWorkers0000000000032 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // Deletes one part and returns its size, so that a worker can repeat it until nothing is left.
    await queryRunner.query(`
      CREATE FUNCTION delete_old_idempotency_keys(rows_max integer) RETURNS bigint
      LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
        WITH deleted AS (
          DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM idempotency_keys
            WHERE created_at < now() - interval '24 hours' ORDER BY created_at LIMIT rows_max
            FOR UPDATE SKIP LOCKED)) RETURNING 1)
        SELECT count(*) FROM deleted
      $$;
      REVOKE ALL ON FUNCTION delete_old_idempotency_keys(integer) FROM PUBLIC`);
    // glovebox_management keeps its grants: during an upgrade, the management API of the previous
    // release still calls these functions. Calls from both are harmless.
    await queryRunner.query(`
      GRANT EXECUTE ON FUNCTION delete_old_idempotency_keys(integer),
        delete_expired_tokens(integer), delete_remains_of_tenants(integer) TO glovebox_data`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP FUNCTION delete_old_idempotency_keys(integer);
      REVOKE EXECUTE ON FUNCTION
        delete_expired_tokens(integer), delete_remains_of_tenants(integer) FROM glovebox_data`);
  }
}
