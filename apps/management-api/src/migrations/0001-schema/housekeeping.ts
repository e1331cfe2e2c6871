import { asOwner, type Subject } from './subject';

// For tokens that have expired, for all tenants at once.
const deleteExpiredTokens = `
  CREATE FUNCTION delete_expired_tokens(rows_max integer) RETURNS bigint
  LANGUAGE sql ${asOwner} AS $$
    WITH deleted AS (
      DELETE FROM tokens WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM tokens WHERE expires_at <= now() ORDER BY expires_at LIMIT rows_max
        FOR UPDATE SKIP LOCKED)) RETURNING 1)
    SELECT count(*) FROM deleted
  $$;`;

// The log keeps a mark of each deleted tenant. A call that was under way may leave rows after the
// deletion; these are found as well. The rows of one tenant are found by index, in parts.
const deleteRemainsOfTenants = `
  CREATE FUNCTION delete_remains_of_tenants(rows_max integer) RETURNS bigint
  LANGUAGE sql ${asOwner} AS $$
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
  $$;`;

const deleteOldIdempotencyKeys = `
  CREATE FUNCTION delete_old_idempotency_keys() RETURNS void LANGUAGE sql ${asOwner} AS $$
    DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM idempotency_keys
      WHERE created_at < now() - interval '24 hours' ORDER BY created_at LIMIT 10000))
  $$;
  CREATE FUNCTION delete_old_idempotency_keys(rows_max integer) RETURNS bigint
  LANGUAGE sql ${asOwner} AS $$
    WITH deleted AS (
      DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM idempotency_keys
        WHERE created_at < now() - interval '24 hours' ORDER BY created_at LIMIT rows_max
        FOR UPDATE SKIP LOCKED)) RETURNING 1)
    SELECT count(*) FROM deleted
  $$;`;

// Goes from partition to partition, because a statement over all of them would read each row. A
// part of a partition is found by index. The lock keeps others from dropping partitions meanwhile.
export const eraseEndedBodies = `
  CREATE OR REPLACE FUNCTION erase_ended_bodies(rows_max integer) RETURNS bigint
  LANGUAGE plpgsql ${asOwner} AS $$
  DECLARE
    partition regclass;
    erased bigint;
    total bigint := 0;
  BEGIN
    LOCK TABLE ended_deliveries IN ACCESS SHARE MODE;
    FOR partition IN SELECT relid FROM pg_partition_tree('ended_deliveries') WHERE isleaf LOOP
      EXECUTE format('WITH erased AS (UPDATE %1$s SET body = NULL, sights = NULL WHERE ctid = ANY (ARRAY('
        'SELECT ctid FROM %1$s WHERE body IS NOT NULL AND ended_at < now() - $1 '
        'ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING 1) '
        'SELECT count(*) FROM erased', partition)
        INTO erased USING interval '24 hours', rows_max - total;
      total := total + erased;
      EXIT WHEN total >= rows_max;
    END LOOP;
    RETURN total;
  END $$;`;

// In the same way.
export const deleteLogsOfTenants = `
  CREATE OR REPLACE FUNCTION delete_logs_of_tenants(rows_max integer) RETURNS bigint
  LANGUAGE plpgsql ${asOwner} AS $$
  DECLARE
    gone uuid[] := ARRAY(SELECT id FROM definition_log WHERE kind = 'tenant' AND payload IS NULL);
    partition regclass;
    deleted bigint;
    total bigint := 0;
  BEGIN
    LOCK TABLE ended_runs, ended_deliveries IN ACCESS SHARE MODE;
    FOR partition IN
      SELECT relid FROM pg_partition_tree('ended_runs') WHERE isleaf UNION ALL
      SELECT relid FROM pg_partition_tree('ended_deliveries') WHERE isleaf
    LOOP
      EXECUTE format('WITH deleted AS (DELETE FROM %1$s WHERE ctid = ANY (ARRAY('
        'SELECT ctid FROM %1$s WHERE tenant_id = ANY ($1) LIMIT $2)) RETURNING 1) '
        'SELECT count(*) FROM deleted', partition)
        INTO deleted USING gone, rows_max - total;
      total := total + deleted;
      EXIT WHEN total >= rows_max;
    END LOOP;
    RETURN total;
  END $$;`;

// Takes tokens that are gone in their order, and erases the answers that show them. It takes more of
// them than it erases answers, as most are in none: a tenant whose million tokens expire at once
// keeps the answers of no other waiting. Each token is looked for again after 30 seconds: an answer
// may have been stored in a transaction that was open at the same moment. An answer beyond the part
// is found by the next call. A pending webhook is erased when it ends. Reading whole tables is never
// cheaper than the indexes, whatever the statistics say.
export const eraseGoneAnswers = `
  CREATE FUNCTION erase_gone_answers(rows_max integer) RETURNS bigint
  LANGUAGE plpgsql ${asOwner}
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
  GRANT EXECUTE ON FUNCTION erase_gone_answers(integer) TO glovebox_data;`;

/**
 * What workers delete. Each function does one part for all tenants and returns its size, so that it
 * is repeated until nothing is left. The data plane itself can only add to a log.
 */
export const housekeeping: Subject = {
  create: `
    ${deleteExpiredTokens}
    ${deleteRemainsOfTenants}
    ${deleteOldIdempotencyKeys}
    ${eraseEndedBodies}
    ${deleteLogsOfTenants}
    REVOKE ALL ON FUNCTION delete_expired_tokens(integer), delete_remains_of_tenants(integer),
      delete_old_idempotency_keys(), delete_old_idempotency_keys(integer),
      erase_ended_bodies(integer), delete_logs_of_tenants(integer) FROM PUBLIC;
    GRANT EXECUTE ON FUNCTION delete_expired_tokens(integer), delete_remains_of_tenants(integer),
      delete_old_idempotency_keys() TO glovebox_management;
    GRANT EXECUTE ON FUNCTION delete_expired_tokens(integer), delete_remains_of_tenants(integer),
      delete_old_idempotency_keys(integer), erase_ended_bodies(integer),
      delete_logs_of_tenants(integer) TO glovebox_data;
    ${eraseGoneAnswers}`,
  drop: `
    DROP FUNCTION erase_gone_answers(integer);
    DROP FUNCTION delete_logs_of_tenants(integer);
    DROP FUNCTION erase_ended_bodies(integer);
    DROP FUNCTION delete_old_idempotency_keys(integer);
    DROP FUNCTION delete_old_idempotency_keys();
    DROP FUNCTION delete_remains_of_tenants(integer);
    DROP FUNCTION delete_expired_tokens(integer)`,
};
