import type { MigrationInterface, QueryRunner } from 'typeorm';

export class DeleteTenants0000000000011 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE INDEX definition_log_of_tenant ON definition_log (tenant_id)
        WHERE payload IS NOT NULL;
      CREATE INDEX webhook_deliveries_of_tenant ON webhook_deliveries (tenant_id)`);
    // Restrictive: no policy can allow deleting the keys of another tenant, or those of the
    // installation, which have no tenant.
    await queryRunner.query(`
      GRANT DELETE ON data_keys TO glovebox_management;
      CREATE POLICY erased ON data_keys AS RESTRICTIVE FOR DELETE
        TO glovebox_management USING (tenant_id = current_tenant())`);
    // Runs as the owner, for all deleted tenants at once. The log keeps a mark of each. A call that
    // was under way may leave rows after the deletion; these are found as well. The rows of one
    // tenant are found by index, in parts.
    await queryRunner.query(`
      CREATE FUNCTION delete_remains_of_tenants(rows_max integer) RETURNS bigint
      LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
        WITH gone AS MATERIALIZED (
          SELECT id FROM definition_log WHERE kind = 'tenant' AND payload IS NULL
        ), a AS (
          DELETE FROM data_keys WHERE tenant_id IN (SELECT id FROM gone) RETURNING 1
        ), b AS (
          DELETE FROM tokens WHERE ctid = ANY (ARRAY(
            SELECT r.ctid FROM gone, LATERAL (
              SELECT ctid FROM tokens WHERE tenant_id = gone.id LIMIT rows_max) r
            LIMIT rows_max)) RETURNING 1
        ), c AS (
          DELETE FROM reactor_runs WHERE ctid = ANY (ARRAY(
            SELECT r.ctid FROM gone, LATERAL (
              SELECT ctid FROM reactor_runs WHERE tenant_id = gone.id LIMIT rows_max) r
            LIMIT rows_max)) RETURNING 1
        ), d AS (
          DELETE FROM webhook_deliveries WHERE ctid = ANY (ARRAY(
            SELECT r.ctid FROM gone, LATERAL (
              SELECT ctid FROM webhook_deliveries WHERE tenant_id = gone.id LIMIT rows_max) r
            LIMIT rows_max)) RETURNING 1
        )
        SELECT (SELECT count(*) FROM a) + (SELECT count(*) FROM b)
          + (SELECT count(*) FROM c) + (SELECT count(*) FROM d)
      $$;
      REVOKE ALL ON FUNCTION delete_remains_of_tenants(integer) FROM PUBLIC;
      GRANT EXECUTE ON FUNCTION delete_remains_of_tenants(integer) TO glovebox_management`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP FUNCTION delete_remains_of_tenants(integer)`);
    await queryRunner.query(`
      DROP POLICY erased ON data_keys;
      REVOKE DELETE ON data_keys FROM glovebox_management;
      DROP INDEX webhook_deliveries_of_tenant, definition_log_of_tenant`);
  }
}
