import type { MigrationInterface, QueryRunner } from 'typeorm';

export class RotateMasterKeys0000000000014 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await requireRole(queryRunner);
    await queryRunner.query(`
      CREATE FUNCTION master_version_of(sealed bytea) RETURNS integer
      LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
        SELECT CASE WHEN length(sealed) >= 5 AND get_byte(sealed, 0) = 2
          THEN ('x' || encode(substring(sealed FROM 2 FOR 4), 'hex'))::bit(32)::integer END
      $$;
      CREATE TABLE sealing_version (
        singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
        version integer NOT NULL CHECK (version > 0)
      )`);
    // Before this migration, each process sealed with the highest version of its ring.
    await queryRunner.query(`
      INSERT INTO sealing_version (version)
      SELECT max(version) FROM (
        SELECT max(master_version_of(wrapped)) AS version FROM data_keys
        UNION ALL SELECT max(master_version_of(payload)) FROM definition_log
      ) AS sealed HAVING max(version) > 0`);
    // Transactions that seal hold the lock in shared mode until they commit. Raising the version
    // waits for all of them. A row lock would not do: newcomers could overtake the waiter for ever.
    await queryRunner.query(`
      CREATE FUNCTION sealing_version(newest integer) RETURNS integer
      LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      BEGIN
        PERFORM pg_advisory_xact_lock_shared(hashtext('glovebox sealing version'));
        INSERT INTO sealing_version (version) VALUES (newest) ON CONFLICT DO NOTHING;
        RETURN (SELECT version FROM sealing_version);
      END $$;
      CREATE FUNCTION raise_sealing_version(raised integer) RETURNS void
      LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      BEGIN
        PERFORM pg_advisory_xact_lock(hashtext('glovebox sealing version'));
        UPDATE sealing_version SET version = raised WHERE version < raised;
      END $$;
      REVOKE ALL ON FUNCTION sealing_version(integer), raise_sealing_version(integer) FROM PUBLIC;
      GRANT EXECUTE ON FUNCTION sealing_version(integer)
        TO glovebox_management, glovebox_data, glovebox_rotation;
      GRANT EXECUTE ON FUNCTION raise_sealing_version(integer) TO glovebox_rotation`);
    // The role may replace values that the ring sealed. It may not add, remove or read anything
    // else.
    await queryRunner.query(`
      GRANT SELECT, UPDATE (wrapped, master_version) ON data_keys TO glovebox_rotation;
      GRANT SELECT, UPDATE (version, payload) ON definition_log TO glovebox_rotation;
      GRANT SELECT, UPDATE (version) ON definition_head TO glovebox_rotation;
      CREATE POLICY rotated ON data_keys TO glovebox_rotation USING (true);
      CREATE POLICY rotated ON definition_log TO glovebox_rotation USING (true)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP POLICY rotated ON definition_log;
      DROP POLICY rotated ON data_keys;
      REVOKE ALL ON data_keys, definition_log, definition_head FROM glovebox_rotation;
      REVOKE UPDATE (wrapped, master_version) ON data_keys FROM glovebox_rotation;
      REVOKE UPDATE (version, payload) ON definition_log FROM glovebox_rotation;
      REVOKE UPDATE (version) ON definition_head FROM glovebox_rotation;
      DROP FUNCTION raise_sealing_version(integer);
      DROP FUNCTION sealing_version(integer);
      DROP TABLE sealing_version;
      DROP FUNCTION master_version_of(bytea)`);
  }
}

/** An installation from before this migration lacks the fourth role. */
async function requireRole(queryRunner: QueryRunner): Promise<void> {
  const found = (await queryRunner.query(
    `SELECT 1 FROM pg_roles WHERE rolname = 'glovebox_rotation'`,
  )) as unknown[];
  if (found.length > 0) return;
  throw new Error('The role glovebox_rotation is missing: run roles.main.js again, then migrate.');
}
