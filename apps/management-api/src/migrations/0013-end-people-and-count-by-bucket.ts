import type { QueryRunner } from 'typeorm';
import { asOwner, ofOneTenant } from './0001-schema/subject';
import { buildIndex, shortWaits, withoutLongWaits } from './build-index';
import type { Migration } from './migration';

/**
 * Takes all access from somebody, except in one tenant. Whoever opens a session locks the row of the
 * person, so that none is opened beside it. A code that is being used just now opens a session of
 * somebody without a role.
 */
const endPeople = `
  CREATE FUNCTION end_people(of_issuer text, of_subject text, but_in uuid, trace text)
  RETURNS void LANGUAGE plpgsql ${asOwner} AS $$
  DECLARE
    ended uuid[];
  BEGIN
    WITH changed AS (
      UPDATE people SET role = 'none'
      WHERE issuer = of_issuer AND subject = of_subject AND tenant_id IS DISTINCT FROM but_in
        AND role <> 'none'
      RETURNING id, tenant_id
    ), written AS (
      INSERT INTO audit_log (tenant_id, actor_id, operation, entity_type, entity_id, outcome, trace_id)
      SELECT tenant_id, id, 'console.lose_role', 'person', id, 'success', trace FROM changed
    )
    SELECT array_agg(id) INTO ended FROM changed;
    DELETE FROM console_codes WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM console_codes WHERE person_id = ANY (ended) FOR UPDATE SKIP LOCKED));
    DELETE FROM console_sessions WHERE person_id = ANY (ended);
  END $$;
  REVOKE ALL ON FUNCTION end_people(text, text, uuid, text) FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION end_people(text, text, uuid, text) TO glovebox_management;`;

/** Rows that deleted tenants have left in a table. */
const remainsOf = (table: string): string => `ARRAY(
  SELECT r.ctid FROM definition_log gone, LATERAL (
    SELECT ctid FROM ${table} WHERE tenant_id = gone.id LIMIT rows_max) r
  WHERE gone.kind = 'tenant' AND gone.payload IS NULL LIMIT rows_max)`;

/** Which failed run a run repeats. The hot paths of runs know nothing of it. */
const repetitions = `
  CREATE TABLE repetitions (
    tenant_id uuid NOT NULL,
    run_id uuid NOT NULL,
    repeats uuid NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, run_id)
  );
  CREATE INDEX repetitions_oldest ON repetitions (created_at);
  GRANT SELECT, INSERT ON repetitions TO glovebox_management;
  ${ofOneTenant('repetitions')}
  CREATE FUNCTION delete_old_repetitions(kept_days integer, rows_max integer) RETURNS bigint
  LANGUAGE sql ${asOwner} AS $$
    WITH deleted AS (
      DELETE FROM repetitions WHERE ctid = ANY (
        ARRAY(SELECT ctid FROM repetitions WHERE created_at <= now() - make_interval(days => kept_days)
          ORDER BY created_at LIMIT rows_max FOR UPDATE SKIP LOCKED)
        || ${remainsOf('repetitions')}) RETURNING 1
    ) SELECT count(*) FROM deleted
  $$;`;

/**
 * The counts of calls by quarter and by hour, added up by the statement that stores them: exact,
 * whoever stores them and whatever is killed. A statement takes its rows in the order of their key, so that
 * two of them never wait for each other. Counts of before the trigger are in `call_summary` alone.
 */
const buckets = `
  CREATE TABLE call_buckets (
    tenant_id uuid NOT NULL,
    minutes smallint NOT NULL,
    starts timestamptz(0) NOT NULL,
    resource text NOT NULL,
    outcome text NOT NULL,
    path text NOT NULL,
    proxy_id uuid,
    reactor_id uuid,
    calls bigint NOT NULL,
    latencies bigint[] NOT NULL,
    PRIMARY KEY (tenant_id, minutes, starts, resource, outcome)
  ) WITH (fillfactor = 70);
  CREATE INDEX call_buckets_oldest ON call_buckets (starts);
  GRANT SELECT ON call_buckets TO glovebox_management;
  ${ofOneTenant('call_buckets')}
  CREATE TABLE call_buckets_since (since timestamptz(0) NOT NULL);
  GRANT SELECT ON call_buckets_since TO glovebox_management;
  CREATE FUNCTION add_lists(one bigint[], other bigint[]) RETURNS bigint[]
  LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(array_agg(coalesce(a, 0) + coalesce(b, 0) ORDER BY nth), '{}')
    FROM ROWS FROM (unnest(one), unnest(other)) WITH ORDINALITY AS lists (a, b, nth)
  $$;
  CREATE AGGREGATE sum_of_lists(bigint[]) (SFUNC = add_lists, STYPE = bigint[], INITCOND = '{}');
  CREATE FUNCTION count_by_bucket() RETURNS trigger LANGUAGE plpgsql ${asOwner} AS $$
  BEGIN
    INSERT INTO call_buckets AS known (tenant_id, minutes, starts, resource, outcome, path, proxy_id,
      reactor_id, calls, latencies)
    SELECT tenant_id, minutes, date_bin(make_interval(mins => minutes), minute, 'epoch') AS starts,
      concat_ws(' ', path, proxy_id, reactor_id) AS resource, outcome, path, proxy_id, reactor_id,
      sum(calls), sum_of_lists(latencies)
    FROM added, unnest(ARRAY[15, 60]) AS minutes
    GROUP BY tenant_id, minutes, starts, outcome, path, proxy_id, reactor_id
    ORDER BY tenant_id, minutes, starts, resource, outcome
    ON CONFLICT (tenant_id, minutes, starts, resource, outcome) DO UPDATE
      SET calls = known.calls + excluded.calls,
        latencies = add_lists(known.latencies, excluded.latencies);
    RETURN NULL;
  END $$;
  CREATE FUNCTION delete_old_call_buckets(kept_days integer, rows_max integer) RETURNS bigint
  LANGUAGE sql ${asOwner} AS $$
    WITH deleted AS (
      DELETE FROM call_buckets WHERE ctid = ANY (
        ARRAY(SELECT ctid FROM call_buckets WHERE starts <= now() - make_interval(days => kept_days)
          ORDER BY starts LIMIT rows_max FOR UPDATE SKIP LOCKED)
        || ${remainsOf('call_buckets')}) RETURNING 1
    ) SELECT count(*) FROM deleted
  $$;
  REVOKE ALL ON FUNCTION delete_old_repetitions(integer, integer), count_by_bucket(),
    add_lists(bigint[], bigint[]), sum_of_lists(bigint[]), delete_old_call_buckets(integer, integer)
    FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION delete_old_repetitions(integer, integer),
    delete_old_call_buckets(integer, integer) TO glovebox_data;`;

/** Last, since writers of the counts wait for it. A clock may be ahead of that of Postgres. */
const countFromNow = `
  CREATE TRIGGER count_by_bucket AFTER INSERT ON call_summary
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_by_bucket();
  INSERT INTO call_buckets_since SELECT CASE WHEN EXISTS (SELECT FROM call_summary)
    THEN date_trunc('hour', now(), 'UTC') + interval '2 hours' ELSE '-infinity' END;`;

const undo = `
  DROP TRIGGER IF EXISTS count_by_bucket ON call_summary;
  DROP FUNCTION IF EXISTS count_by_bucket(), delete_old_call_buckets(integer, integer),
    delete_old_repetitions(integer, integer), end_people(text, text, uuid, text);
  DROP AGGREGATE IF EXISTS sum_of_lists(bigint[]);
  DROP FUNCTION IF EXISTS add_lists(bigint[], bigint[]);
  DROP TABLE IF EXISTS call_buckets_since, call_buckets, repetitions;`;

/** May be repeated: it undoes what an attempt has left. */
export class EndPeopleAndCountByBucket0000000000013 implements Migration {
  readonly kind = 'expand';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await buildIndex(queryRunner, 'people_of_subject', 'people (issuer, subject)');
    await withoutLongWaits(
      queryRunner,
      ['call_summary'],
      [undo, endPeople, repetitions, buckets, countFromNow],
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits('people', 'call_summary'));
    await queryRunner.query(`${undo} DROP INDEX people_of_subject`);
  }
}
