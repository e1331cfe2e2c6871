import type { QueryRunner } from 'typeorm';
import { asOwner, ofOneTenant } from './0001-schema/subject';
import { shortWaits } from './build-index';
import type { Migration } from './migration';

/** Sealed texts of code, each once. `id` is half of the SHA-256 of the text. */
const codeTexts = `
  CREATE TABLE code_texts (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    text bytea NOT NULL,
    last_in_force_at timestamptz(3) NOT NULL,
    PRIMARY KEY (tenant_id, id)
  );
  -- Sealed text cannot be compressed.
  ALTER TABLE code_texts ALTER COLUMN text SET STORAGE EXTERNAL;
  CREATE INDEX code_texts_oldest ON code_texts (last_in_force_at);
  GRANT SELECT, INSERT, UPDATE, DELETE ON code_texts TO glovebox_management;
  ${ofOneTenant('code_texts')}`;

/**
 * Those whose last runs are gone, and those of deleted tenants, which nothing opens any more. A run
 * may start a moment after its code was replaced, and a partition of the log spans a day.
 */
const deleteCodeTexts = `
  CREATE FUNCTION delete_code_texts(runs_kept_days integer, rows_max integer) RETURNS bigint
  LANGUAGE sql ${asOwner} AS $$
    WITH old AS (
      DELETE FROM code_texts WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM code_texts
        WHERE last_in_force_at < now() - make_interval(days => greatest(runs_kept_days, 1) + 2)
        ORDER BY last_in_force_at LIMIT rows_max FOR UPDATE SKIP LOCKED)) RETURNING 1
    ), remains AS (
      DELETE FROM code_texts WHERE ctid = ANY (ARRAY(
        SELECT r.ctid FROM definition_log gone, LATERAL (
          SELECT ctid FROM code_texts WHERE tenant_id = gone.id LIMIT rows_max) r
        WHERE gone.kind = 'tenant' AND gone.payload IS NULL LIMIT rows_max)) RETURNING 1
    )
    SELECT (SELECT count(*) FROM old) + (SELECT count(*) FROM remains)
  $$;
  REVOKE ALL ON FUNCTION delete_code_texts(integer, integer) FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION delete_code_texts(integer, integer) TO glovebox_data;`;

/** Each run names its code exactly. */
export class KeepCodeOfRuns0000000000012 implements Migration {
  readonly kind = 'expand';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits('ended_runs'));
    await queryRunner.query(`${codeTexts} ${deleteCodeTexts}`);
    // Last, since writers of the log wait for it.
    await queryRunner.query('ALTER TABLE ended_runs ADD COLUMN code_id uuid');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits('ended_runs'));
    await queryRunner.query(`
      ALTER TABLE ended_runs DROP COLUMN code_id;
      DROP FUNCTION delete_code_texts(integer, integer);
      DROP TABLE code_texts;
    `);
  }
}
