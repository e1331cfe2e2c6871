import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CountDefinitions0000000000017 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE definition_sizes (
        tenant_id uuid PRIMARY KEY,
        definitions bigint NOT NULL,
        bytes bigint NOT NULL
      );
      GRANT SELECT ON definition_sizes TO glovebox_management;
      ALTER TABLE definition_sizes ENABLE ROW LEVEL SECURITY;
      CREATE POLICY own ON definition_sizes FOR SELECT
        TO glovebox_management USING (tenant_id = current_tenant())`);
    // Triggers count every writer of the log, including the previous release. A statement that
    // writes the log holds its head, so no other one counts at the same time.
    await queryRunner.query(`
      CREATE FUNCTION count_definitions() RETURNS trigger
      LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      BEGIN
        -- An upsert calls both triggers, and one of them has nothing to count.
        IF TG_OP = 'INSERT' THEN
          IF NOT EXISTS (SELECT FROM written) THEN RETURN NULL; END IF;
          INSERT INTO definition_sizes AS s (tenant_id, definitions, bytes)
          SELECT tenant_id, count(*), sum(octet_length(payload))
          FROM written WHERE payload IS NOT NULL GROUP BY tenant_id
          ON CONFLICT (tenant_id) DO UPDATE SET
            definitions = s.definitions + excluded.definitions, bytes = s.bytes + excluded.bytes;
        ELSE
          IF NOT EXISTS (SELECT FROM replaced) THEN RETURN NULL; END IF;
          INSERT INTO definition_sizes AS s (tenant_id, definitions, bytes)
          SELECT tenant_id, sum(definitions), sum(bytes) FROM (
            SELECT tenant_id, 1 AS definitions, octet_length(payload) AS bytes
            FROM written WHERE payload IS NOT NULL
            UNION ALL
            SELECT tenant_id, -1, -octet_length(payload) FROM replaced WHERE payload IS NOT NULL
          ) changes
          GROUP BY tenant_id HAVING sum(definitions) <> 0 OR sum(bytes) <> 0
          ON CONFLICT (tenant_id) DO UPDATE SET
            definitions = s.definitions + excluded.definitions, bytes = s.bytes + excluded.bytes;
          DELETE FROM definition_sizes s
          WHERE s.definitions = 0 AND s.tenant_id IN (SELECT tenant_id FROM replaced);
        END IF;
        RETURN NULL;
      END $$;
      REVOKE ALL ON FUNCTION count_definitions() FROM PUBLIC;
      CREATE TRIGGER inserted AFTER INSERT ON definition_log
        REFERENCING NEW TABLE AS written
        FOR EACH STATEMENT EXECUTE FUNCTION count_definitions();
      CREATE TRIGGER updated AFTER UPDATE ON definition_log
        REFERENCING OLD TABLE AS replaced NEW TABLE AS written
        FOR EACH STATEMENT EXECUTE FUNCTION count_definitions()`);
    // After the triggers, whose creation blocks writers until the commit.
    await queryRunner.query(`
      INSERT INTO definition_sizes (tenant_id, definitions, bytes)
      SELECT tenant_id, count(*), sum(octet_length(payload))
      FROM definition_log WHERE payload IS NOT NULL GROUP BY tenant_id`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TRIGGER updated ON definition_log;
      DROP TRIGGER inserted ON definition_log;
      DROP FUNCTION count_definitions();
      DROP TABLE definition_sizes`);
  }
}
