import type { QueryRunner } from 'typeorm';
import { asOwner, ofOneTenant } from './0001-schema/subject';
import type { Migration } from './migration';

/** `state` is sealed: all that the deployment put in force, but for code, which `code_texts` has. */
const deployments = `
  CREATE TABLE deployments (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    message text,
    rollback_of uuid,
    changes jsonb NOT NULL,
    state bytea NOT NULL,
    code_ids uuid[] NOT NULL,
    bytes bigint NOT NULL,
    trace_id text NOT NULL,
    created_by uuid,
    created_at timestamptz(3) NOT NULL,
    PRIMARY KEY (tenant_id, id)
  );
  -- Sealed text cannot be compressed.
  ALTER TABLE deployments ALTER COLUMN state SET STORAGE EXTERNAL;
  GRANT SELECT, INSERT, DELETE ON deployments TO glovebox_management;
  ${ofOneTenant('deployments')}`;

const deleteRemains = `
  CREATE FUNCTION delete_deployments_of_tenants(rows_max integer) RETURNS bigint
  LANGUAGE sql ${asOwner} AS $$
    WITH remains AS (
      DELETE FROM deployments WHERE ctid = ANY (ARRAY(
        SELECT r.ctid FROM definition_log gone, LATERAL (
          SELECT ctid FROM deployments WHERE tenant_id = gone.id LIMIT rows_max) r
        WHERE gone.kind = 'tenant' AND gone.payload IS NULL LIMIT rows_max)) RETURNING 1
    )
    SELECT count(*) FROM remains
  $$;
  REVOKE ALL ON FUNCTION delete_deployments_of_tenants(integer) FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION delete_deployments_of_tenants(integer) TO glovebox_data;`;

/** Texts that a deployment still needs stay: `held` is the condition that leaves them alone. */
const deleteCodeTexts = (verb: string, held: string): string => `
  ${verb} FUNCTION delete_code_texts(runs_kept_days integer, rows_max integer) RETURNS bigint
  LANGUAGE sql ${asOwner} AS $$
    WITH old AS (
      DELETE FROM code_texts WHERE ctid = ANY (ARRAY(
        SELECT c.ctid FROM code_texts c
        WHERE last_in_force_at < now() - make_interval(days => greatest(runs_kept_days, 1) + 2)
          ${held}
        ORDER BY last_in_force_at LIMIT rows_max FOR UPDATE SKIP LOCKED)) RETURNING 1
    ), remains AS (
      DELETE FROM code_texts WHERE ctid = ANY (ARRAY(
        SELECT r.ctid FROM definition_log gone, LATERAL (
          SELECT ctid FROM code_texts WHERE tenant_id = gone.id LIMIT rows_max) r
        WHERE gone.kind = 'tenant' AND gone.payload IS NULL LIMIT rows_max)) RETURNING 1
    )
    SELECT (SELECT count(*) FROM old) + (SELECT count(*) FROM remains)
  $$;`;

const heldByDeployments = `AND NOT EXISTS (
            SELECT FROM deployments d WHERE d.tenant_id = c.tenant_id AND c.id = ANY (d.code_ids))`;

export class KeepDeployments0000000000015 implements Migration {
  readonly kind = 'expand';

  async up(queryRunner: QueryRunner): Promise<void> {
    const spared = deleteCodeTexts('CREATE OR REPLACE', heldByDeployments);
    await queryRunner.query(`${deployments} ${deleteRemains} ${spared}`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ${deleteCodeTexts('CREATE OR REPLACE', '')}
      DROP FUNCTION delete_deployments_of_tenants(integer);
      DROP TABLE deployments;
    `);
  }
}
