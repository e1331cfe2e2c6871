import type { QueryRunner } from 'typeorm';
import { eraseGoneAnswers } from './0001-schema/housekeeping';
import { asOwner, ofEveryTenant } from './0001-schema/subject';
import type { Migration } from './migration';

/**
 * The arguments of runs that failed, sealed as they were in the queue. The columns of a run that is
 * repeated. `token_keys` finds those that name a token which is gone.
 */
const keptArguments = `
  CREATE TABLE kept_arguments (
    tenant_id uuid NOT NULL,
    run_id uuid NOT NULL,
    reactor_id uuid NOT NULL,
    arguments bytea NOT NULL,
    callback_url bytea NOT NULL,
    timeout_ms integer NOT NULL,
    token_keys bigint[] NOT NULL,
    kept_until timestamptz(3) NOT NULL,
    reader_version smallint NOT NULL,
    PRIMARY KEY (tenant_id, run_id)
  );
  -- Sealed text cannot be compressed.
  ALTER TABLE kept_arguments ALTER COLUMN arguments SET STORAGE EXTERNAL;
  CREATE INDEX kept_arguments_until ON kept_arguments (kept_until);
  CREATE INDEX kept_arguments_of_tokens ON kept_arguments USING gin (token_keys)
    WITH (fastupdate = off);
  GRANT SELECT ON kept_arguments TO glovebox_management;
  GRANT SELECT, INSERT, DELETE ON kept_arguments TO glovebox_data;
  GRANT INSERT ON reactor_runs TO glovebox_management;
  ${ofEveryTenant('kept_arguments')}`;

/** Those whose time is over, and those of deleted tenants, which nothing opens any more. */
const deleteKeptArguments = `
  CREATE FUNCTION delete_kept_arguments(rows_max integer) RETURNS bigint
  LANGUAGE sql ${asOwner} AS $$
    WITH old AS (
      DELETE FROM kept_arguments WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM kept_arguments WHERE kept_until <= now() ORDER BY kept_until
        LIMIT rows_max FOR UPDATE SKIP LOCKED)) RETURNING 1
    ), remains AS (
      DELETE FROM kept_arguments WHERE ctid = ANY (ARRAY(
        SELECT r.ctid FROM definition_log gone, LATERAL (
          SELECT ctid FROM kept_arguments WHERE tenant_id = gone.id AND kept_until > now()
          LIMIT rows_max) r
        WHERE gone.kind = 'tenant' AND gone.payload IS NULL LIMIT rows_max)) RETURNING 1
    )
    SELECT (SELECT count(*) FROM old) + (SELECT count(*) FROM remains)
  $$;
  REVOKE ALL ON FUNCTION delete_kept_arguments(integer) FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION delete_kept_arguments(integer) TO glovebox_data;`;

const replaced = eraseGoneAnswers.replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION');
const afterAnswers = 'GET DIAGNOSTICS total = ROW_COUNT;';

/** Erases with the answers that show a token what names it. */
const eraseWithArguments = replaced.replace(
  afterAnswers,
  `${afterAnswers}
    DELETE FROM kept_arguments WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM kept_arguments WHERE token_keys && keys
      LIMIT greatest(rows_max - total, 0) FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS erased = ROW_COUNT;
    total := total + erased;`,
);

export class KeepArgumentsOfRuns0000000000009 implements Migration {
  readonly kind = 'expand';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`${keptArguments} ${deleteKeptArguments} ${eraseWithArguments}`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ${replaced}
      DROP FUNCTION delete_kept_arguments(integer);
      REVOKE INSERT ON reactor_runs FROM glovebox_management;
      DROP TABLE kept_arguments
    `);
  }
}
