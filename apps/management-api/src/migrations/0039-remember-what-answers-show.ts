import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex } from './build-index';

/**
 * Keeps beside each stored answer which tokens it shows, and finds and erases the answers whose
 * tokens are gone.
 */
export class RememberWhatAnswersShow0000000000039 implements MigrationInterface {
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE idempotency_keys
        ADD COLUMN IF NOT EXISTS outcome text,
        ADD COLUMN IF NOT EXISTS run_id uuid,
        ADD COLUMN IF NOT EXISTS ended_at timestamptz(3);
      ALTER TABLE webhook_deliveries ADD COLUMN IF NOT EXISTS sights jsonb;
      ALTER TABLE ended_deliveries ADD COLUMN IF NOT EXISTS sights jsonb`);
    for (const statement of [tokenKey, tokensSeen, sightsAreGone, goneTokens]) {
      await queryRunner.query(statement);
    }
    await buildIndex(
      queryRunner,
      'idempotency_keys_of_tokens',
      `idempotency_keys ${ofTokens}
      WHERE response IS NOT NULL AND sights IS NOT NULL`,
    );
    await indexEndedDeliveries(queryRunner);
    await queryRunner.query(eraseGoneAnswers);
    await queryRunner.query(eraseEndedBodies('body = NULL, sights = NULL'));
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(eraseEndedBodies('body = NULL'));
    await queryRunner.query(`
      DROP FUNCTION erase_gone_answers(integer);
      DROP INDEX ended_deliveries_of_tokens;
      DROP INDEX idempotency_keys_of_tokens;
      DROP TRIGGER gone ON tokens;
      DROP FUNCTION note_gone_tokens();
      DROP TABLE gone_tokens;
      DROP FUNCTION sights_are_gone(uuid, jsonb);
      DROP FUNCTION tokens_seen(uuid, jsonb);
      DROP FUNCTION token_key(uuid, text);
      ALTER TABLE ended_deliveries DROP COLUMN sights;
      ALTER TABLE webhook_deliveries DROP COLUMN sights;
      ALTER TABLE idempotency_keys
        DROP COLUMN outcome, DROP COLUMN run_id, DROP COLUMN ended_at`);
  }
}

/** Without a list of what is new: that list would be read whole for each token. */
const ofTokens = 'USING gin (tokens_seen(tenant_id, sights)) WITH (fastupdate = off)';

/** The index of a partitioned table cannot be built while it is written: its parts can. */
async function indexEndedDeliveries(queryRunner: QueryRunner): Promise<void> {
  const name = 'ended_deliveries_of_tokens';
  const where = 'WHERE body IS NOT NULL AND sights IS NOT NULL';
  await queryRunner.query(
    `CREATE INDEX IF NOT EXISTS ${name} ON ONLY ended_deliveries ${ofTokens} ${where}`,
  );
  const parts = (await queryRunner.query(`
    SELECT i.inhrelid::regclass::text AS part FROM pg_inherits i
    WHERE i.inhparent = 'ended_deliveries'::regclass AND NOT EXISTS (
      SELECT FROM pg_index x JOIN pg_inherits xi ON xi.inhrelid = x.indexrelid
      WHERE x.indrelid = i.inhrelid AND xi.inhparent = '${name}'::regclass)`)) as {
    part: string;
  }[];
  for (const { part } of parts) {
    await buildIndex(queryRunner, `${part}_of_tokens`, `${part} ${ofTokens} ${where}`);
    await queryRunner.query(`ALTER INDEX ${name} ATTACH PARTITION ${part}_of_tokens`);
  }
}

const tokenKey = `
  CREATE OR REPLACE FUNCTION token_key(tenant uuid, token text) RETURNS bigint
  LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT hashtextextended(tenant::text || ' ' || token, 0)
  $$`;

const tokensSeen = `
  CREATE OR REPLACE FUNCTION tokens_seen(tenant uuid, sights jsonb) RETURNS bigint[]
  LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT array_agg(DISTINCT token_key(tenant, id))
    FROM jsonb_array_elements(sights) sight, jsonb_array_elements_text(sight -> 'ids') id
  $$`;

// A token that was made at another time took the id of one that is gone.
const sightsAreGone = `
  CREATE OR REPLACE FUNCTION sights_are_gone(tenant uuid, sights jsonb)
  RETURNS boolean LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
      SELECT FROM jsonb_array_elements(sights) sight
      CROSS JOIN ROWS FROM (jsonb_array_elements_text(sight -> 'ids'),
        jsonb_array_elements_text(sight -> 'madeAt')) seen (id, made_at)
      WHERE NOT EXISTS (
        SELECT FROM tokens t
        WHERE t.tenant_id = tenant AND t.id = seen.id
          AND (t.expires_at IS NULL OR t.expires_at > now())
          AND extract(epoch FROM t.created_at) * 1000 = seen.made_at::numeric))
  $$`;

// However a token is deleted, by whichever release. Only the owner sees these rows.
const goneTokens = `
  CREATE TABLE IF NOT EXISTS gone_tokens (
    tenant_id uuid NOT NULL,
    key bigint NOT NULL,
    due_at timestamptz(3) NOT NULL DEFAULT now(),
    is_second boolean NOT NULL DEFAULT false
  );
  CREATE INDEX IF NOT EXISTS gone_tokens_due ON gone_tokens (due_at);
  ALTER TABLE gone_tokens ENABLE ROW LEVEL SECURITY;
  CREATE OR REPLACE FUNCTION note_gone_tokens() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  BEGIN
    INSERT INTO gone_tokens (tenant_id, key)
      SELECT tenant_id, token_key(tenant_id, id) FROM deleted;
    RETURN NULL;
  END $$;
  REVOKE ALL ON FUNCTION note_gone_tokens() FROM PUBLIC;
  CREATE OR REPLACE TRIGGER gone AFTER DELETE ON tokens REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION note_gone_tokens()`;

// Takes tokens that are gone in their order, and erases the answers that show them. It takes more of
// them than it erases answers, as most are in none: a tenant whose million tokens expire at once
// keeps the answers of no other waiting. Each token is looked for again after 30 seconds: an answer
// may have been stored in a transaction that was open at the same moment. An answer beyond the part
// is found by the next call. A pending webhook is erased when it ends. Reading whole tables is never
// cheaper than the indexes, whatever the statistics say.
const eraseGoneAnswers = `
  CREATE OR REPLACE FUNCTION erase_gone_answers(rows_max integer) RETURNS bigint
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
  SET enable_seqscan = off AS $$
  DECLARE
    due tid[];
    keys bigint[];
    partition regclass;
    erased bigint;
    total bigint;
  BEGIN
    SELECT array_agg(ctid), array_agg(DISTINCT key) INTO due, keys FROM (
      SELECT ctid, key FROM gone_tokens WHERE due_at <= now() ORDER BY due_at LIMIT 5 * rows_max
      FOR UPDATE SKIP LOCKED) g;
    IF due IS NULL THEN RETURN 0; END IF;
    UPDATE idempotency_keys SET response = NULL WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM idempotency_keys
      WHERE response IS NOT NULL AND sights IS NOT NULL AND tokens_seen(tenant_id, sights) && keys
        AND sights_are_gone(tenant_id, sights)
      LIMIT rows_max FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS total = ROW_COUNT;
    LOCK TABLE ended_deliveries IN ACCESS SHARE MODE;
    FOR partition IN SELECT relid FROM pg_partition_tree('ended_deliveries') WHERE isleaf LOOP
      EXIT WHEN total >= rows_max;
      EXECUTE format('UPDATE %1$s SET body = NULL WHERE ctid = ANY (ARRAY('
        'SELECT ctid FROM %1$s WHERE body IS NOT NULL AND sights IS NOT NULL '
        'AND tokens_seen(tenant_id, sights) && $1 '
        'AND sights_are_gone(tenant_id, sights) LIMIT $2 FOR UPDATE SKIP LOCKED))',
        partition) USING keys, rows_max - total;
      GET DIAGNOSTICS erased = ROW_COUNT;
      total := total + erased;
    END LOOP;
    IF total >= rows_max THEN RETURN total; END IF;
    DELETE FROM gone_tokens WHERE ctid = ANY (due) AND is_second;
    UPDATE gone_tokens SET is_second = true, due_at = now() + interval '30 seconds'
      WHERE ctid = ANY (due);
    RETURN cardinality(due);
  END $$;
  REVOKE ALL ON FUNCTION erase_gone_answers(integer) FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION erase_gone_answers(integer) TO glovebox_data`;

const eraseEndedBodies = (erasing: string): string => `
  CREATE OR REPLACE FUNCTION erase_ended_bodies(rows_max integer) RETURNS bigint
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  DECLARE
    partition regclass;
    erased bigint;
    total bigint := 0;
  BEGIN
    LOCK TABLE ended_deliveries IN ACCESS SHARE MODE;
    FOR partition IN SELECT relid FROM pg_partition_tree('ended_deliveries') WHERE isleaf LOOP
      EXECUTE format('WITH erased AS (UPDATE %1$s SET ${erasing} WHERE ctid = ANY (ARRAY('
        'SELECT ctid FROM %1$s WHERE body IS NOT NULL AND ended_at < now() - $1 '
        'ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING 1) '
        'SELECT count(*) FROM erased', partition)
        INTO erased USING interval '24 hours', rows_max - total;
      total := total + erased;
      EXIT WHEN total >= rows_max;
    END LOOP;
    RETURN total;
  END $$`;
