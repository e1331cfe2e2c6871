import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Workers delete what nobody needs any more; before, the management API did. */
export class ClearAwayInWorkers0000000000032 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // A part at a time, and it tells how many, so that a worker can go on until nothing is left.
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
    // The grants of glovebox_management stay: the management API of the release before calls these
    // functions as long as an upgrade is under way. Run by both, they are harmless.
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
