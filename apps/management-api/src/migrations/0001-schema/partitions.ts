import { asOwner, type Subject } from './subject';

const lowestId = `
  CREATE FUNCTION lowest_id_at(moment timestamptz) RETURNS uuid
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT (lpad(to_hex(floor(extract(epoch FROM moment) * 1000)::bigint), 12, '0')
      || repeat('0', 20))::uuid
  $$`;

const logs = `
  CREATE VIEW partitioned_logs AS
    SELECT c.oid, c.relname::text AS name, a.attname AS key,
      CASE a.atttypid WHEN 'uuid'::regtype THEN 'day' ELSE 'month' END AS span
    FROM pg_partitioned_table p
    JOIN pg_class c ON c.oid = p.partrelid AND c.relnamespace = 'public'::regnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.partattrs[0]`;

const logPartitions = `
  CREATE VIEW log_partitions AS
    SELECT l.name AS log, c.relname::text AS name,
      to_date(right(c.relname::text, 8), 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC' AS ends_at
    FROM partitioned_logs l
    JOIN pg_inherits i ON i.inhparent = l.oid
    JOIN pg_class c ON c.oid = i.inhrelid
    WHERE c.relname ~ '_until_[0-9]{8}$'`;

// A new partition is filled before it is attached: rows of its time that came while there was none
// are in the default one, which is locked meanwhile.
const makePartition = `
  CREATE FUNCTION make_partition(log_name text, starts timestamptz, ends timestamptz) RETURNS void
  LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp SET timezone = 'UTC' AS $$
  DECLARE
    log record;
    made text := log_name || to_char(ends, '"_until_"YYYYMMDD');
    low text := starts::text;
    high text := ends::text;
  BEGIN
    SELECT * INTO STRICT log FROM partitioned_logs WHERE name = log_name;
    IF log.span = 'day' THEN
      low := lowest_id_at(starts)::text;
      high := lowest_id_at(ends)::text;
    END IF;
    EXECUTE format('CREATE TABLE public.%I (LIKE public.%I INCLUDING CONSTRAINTS INCLUDING INDEXES '
      'INCLUDING STORAGE)', made, log_name);
    EXECUTE format('ALTER TABLE public.%I ENABLE ROW LEVEL SECURITY', made);
    EXECUTE format('LOCK TABLE public.%I IN ACCESS EXCLUSIVE MODE', log_name || '_default');
    EXECUTE format('WITH moved AS (DELETE FROM public.%1$I WHERE %2$I >= %3$L AND %2$I < %4$L '
      'RETURNING *) INSERT INTO public.%5$I SELECT * FROM moved',
      log_name || '_default', log.key, low, high, made);
    EXECUTE format('ALTER TABLE public.%I ATTACH PARTITION public.%I FOR VALUES FROM (%L) TO (%L)',
      log_name, made, low, high);
  END $$;
  REVOKE ALL ON FUNCTION make_partition(text, timestamptz, timestamptz) FROM PUBLIC`;

// After a gap the next partition begins in two hours: the default one has the rows until then, and
// nothing has to be moved.
const makePartitions = `
  CREATE FUNCTION make_partitions() RETURNS integer
  LANGUAGE plpgsql ${asOwner}
  SET timezone = 'UTC' SET lock_timeout = '500ms' AS $$
  DECLARE
    log record;
    starts timestamptz;
    ends timestamptz;
    ahead interval;
    made integer := 0;
  BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtext('glovebox partitions')) THEN RETURN 0; END IF;
    FOR log IN SELECT * FROM partitioned_logs ORDER BY name LOOP
      SELECT max(ends_at) INTO starts FROM log_partitions WHERE log_partitions.log = log.name;
      starts := CASE
        WHEN starts IS NULL THEN date_trunc(log.span, now())
        WHEN starts < now() + interval '1 hour' THEN date_trunc('hour', now()) + interval '2 hours'
        ELSE starts END;
      ahead := CASE log.span WHEN 'day' THEN interval '7 days' ELSE interval '2 months' END;
      WHILE starts < now() + ahead LOOP
        ends := date_trunc(log.span, starts) + ('1 ' || log.span)::interval;
        PERFORM make_partition(log.name, starts, ends);
        made := made + 1;
        starts := ends;
      END LOOP;
    END LOOP;
    RETURN made;
  END $$;
  REVOKE ALL ON FUNCTION make_partitions() FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION make_partitions() TO glovebox_data`;

// Drops one partition, so that its lock is short, or deletes rows of the default one. The least
// number of days keeps a worker from emptying the audit log. A lock that does not come soon is left
// to the next try: everybody else would wait behind it.
const dropOldRows = `
  CREATE FUNCTION drop_old_rows(log_name text, kept_days integer, rows_max integer) RETURNS bigint
  LANGUAGE plpgsql ${asOwner}
  SET lock_timeout = '500ms' AS $$
  DECLARE
    kept_days_min integer := CASE log_name WHEN 'audit_log' THEN 90 ELSE 1 END;
    written text := CASE log_name WHEN 'audit_log' THEN 'at' ELSE 'created_at' END;
    old text;
    deleted bigint;
  BEGIN
    IF NOT EXISTS (SELECT FROM partitioned_logs WHERE name = log_name) THEN
      RAISE EXCEPTION '% is not a log', log_name;
    END IF;
    IF kept_days < kept_days_min IS NOT FALSE THEN
      RAISE EXCEPTION '% is kept for at least % days', log_name, kept_days_min;
    END IF;
    SELECT name INTO old FROM log_partitions
    WHERE log = log_name AND ends_at <= now() - make_interval(days => kept_days)
    ORDER BY ends_at LIMIT 1;
    IF FOUND THEN
      EXECUTE format('DROP TABLE IF EXISTS public.%I', old);
      RETURN rows_max;
    END IF;
    EXECUTE format('WITH deleted AS (DELETE FROM public.%1$I WHERE ctid = ANY (ARRAY('
      'SELECT ctid FROM public.%1$I WHERE %2$I < now() - make_interval(days => $1) LIMIT $2 '
      'FOR UPDATE SKIP LOCKED)) RETURNING 1) SELECT count(*) FROM deleted',
      log_name || '_default', written) INTO deleted USING kept_days, rows_max;
    RETURN deleted;
  END $$;
  REVOKE ALL ON FUNCTION drop_old_rows(text, integer, integer) FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION drop_old_rows(text, integer, integer) TO glovebox_data`;

/**
 * Functions of the owner that keep the partitions of logs. A log is any partitioned table: by days
 * where its key is an id that begins with its time, by months where its key is a time. A partition
 * is named for its end, and `NAME_default` takes the rows that no other partition takes. No role
 * may use a partition itself.
 */
export const partitions: Subject = {
  create: [lowestId, logs, logPartitions, makePartition, makePartitions, dropOldRows].join(';'),
  drop: `
    DROP FUNCTION drop_old_rows(text, integer, integer);
    DROP FUNCTION make_partitions();
    DROP FUNCTION make_partition(text, timestamptz, timestamptz);
    DROP VIEW log_partitions;
    DROP VIEW partitioned_logs;
    DROP FUNCTION lowest_id_at(timestamptz)`,
};
