import type { MigrationInterface, QueryRunner } from 'typeorm';
import { withoutLongWaits } from './build-index';

/**
 * Counts the tokens of a tenant by container and type, in slots: a transaction takes a slot that no
 * other one holds, or makes a new one. So no writer waits for another, in whatever order it counts.
 */
export class CountTokens0000000000040 implements MigrationInterface {
  // The tokens that are there are counted while others are written.
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await this.down(queryRunner);
    // Triggers count every writer, including the release before.
    await withoutLongWaits(queryRunner, [table, addToCount, countTokens, triggers]);
    // One statement sees both tables at one moment. Each writer is seen in both of them or in
    // neither, so the difference is what the triggers have not counted.
    await queryRunner.query(`
      INSERT INTO token_counts (tenant_id, container, type, count)
      SELECT tenant_id, container, type, sum(count) FROM (
        SELECT tenant_id, container, type, count(*) FROM tokens GROUP BY 1, 2, 3
        UNION ALL SELECT tenant_id, container, type, -count FROM token_counts) counted
      GROUP BY 1, 2, 3 HAVING sum(count) <> 0`);
    await queryRunner.query('ANALYZE token_counts');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TRIGGER IF EXISTS count_inserted ON tokens;
      DROP TRIGGER IF EXISTS count_updated ON tokens;
      DROP TRIGGER IF EXISTS count_deleted ON tokens;
      DROP FUNCTION IF EXISTS count_tokens();
      DROP FUNCTION IF EXISTS add_to_token_count(uuid, text, text, bigint);
      DROP TABLE IF EXISTS token_counts`);
  }
}

const table = `
  CREATE TABLE token_counts (
    tenant_id uuid NOT NULL,
    container text NOT NULL,
    type text NOT NULL,
    count bigint NOT NULL
  ) WITH (fillfactor = 50);
  CREATE INDEX token_counts_of_tenant ON token_counts (tenant_id, container, type);
  GRANT SELECT ON token_counts TO glovebox_management, glovebox_data;
  ALTER TABLE token_counts ENABLE ROW LEVEL SECURITY;
  CREATE POLICY own ON token_counts FOR SELECT
    TO glovebox_management USING (tenant_id = current_tenant());
  CREATE POLICY data_plane ON token_counts FOR SELECT TO glovebox_data USING (true)`;

// The slot is locked before the statement that changes it takes its snapshot. Slots that are full
// are taken first, so that those of a deleted container come to nothing.
const addToCount = `
  CREATE FUNCTION add_to_token_count(of_tenant uuid, of_container text, of_type text, change bigint)
  RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    slot tid;
    held bigint;
  BEGIN
    SELECT c.ctid, c.count INTO slot, held FROM token_counts c
    WHERE c.tenant_id = of_tenant AND c.container = of_container AND c.type = of_type
    ORDER BY c.count DESC LIMIT 1 FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      INSERT INTO token_counts VALUES (of_tenant, of_container, of_type, change);
    ELSIF held + change = 0 THEN
      DELETE FROM token_counts WHERE ctid = slot;
    ELSE
      UPDATE token_counts SET count = count + change WHERE ctid = slot;
    END IF;
  END $$;
  REVOKE ALL ON FUNCTION add_to_token_count(uuid, text, text, bigint) FROM PUBLIC`;

const countTokens = `
  CREATE FUNCTION count_tokens() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  BEGIN
    IF TG_OP = 'INSERT' THEN
      PERFORM add_to_token_count(tenant_id, container, type, count(*))
      FROM added GROUP BY tenant_id, container, type;
    ELSIF TG_OP = 'DELETE' THEN
      PERFORM add_to_token_count(tenant_id, container, type, -count(*))
      FROM removed GROUP BY tenant_id, container, type;
    ELSE
      PERFORM add_to_token_count(tenant_id, container, type, sum(change)) FROM (
        SELECT tenant_id, container, type, 1 AS change FROM added
        UNION ALL SELECT tenant_id, container, type, -1 FROM removed) changes
      GROUP BY tenant_id, container, type HAVING sum(change) <> 0;
    END IF;
    RETURN NULL;
  END $$;
  REVOKE ALL ON FUNCTION count_tokens() FROM PUBLIC`;

const triggers = `
  CREATE TRIGGER count_inserted AFTER INSERT ON tokens REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_tokens();
  CREATE TRIGGER count_updated AFTER UPDATE ON tokens
    REFERENCING OLD TABLE AS removed NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_tokens();
  CREATE TRIGGER count_deleted AFTER DELETE ON tokens REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION count_tokens()`;
