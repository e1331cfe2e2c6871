import type { QueryRunner } from 'typeorm';
import { deleteLogsOfTenants } from './0001-schema/housekeeping';
import { asOwner, ofEveryTenant } from './0001-schema/subject';
import { shortWaits } from './build-index';
import type { Migration } from './migration';

/** A process of the management API writes the calls of all its tenants in one statement. */
const writtenForAll = (table: string): string => `
  CREATE POLICY writer ON ${table} FOR INSERT TO glovebox_management WITH CHECK (true);`;

// Ordered and partitioned by ids that begin with the time of the end.
const calls = `
  CREATE TABLE calls (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    method text NOT NULL,
    path text NOT NULL,
    outcome text NOT NULL,
    status smallint,
    destination_status smallint,
    code text,
    cause jsonb,
    application_id uuid,
    proxy_id uuid,
    reactor_id uuid,
    trace_id text,
    decided_ms real,
    asked_ms real,
    answered_ms real,
    ended_ms real,
    request_bytes bigint,
    answer_bytes bigint,
    token_ids text[] NOT NULL,
    run_id uuid,
    request_run_id uuid,
    response_run_id uuid,
    count integer NOT NULL,
    created_at timestamptz(3) NOT NULL,
    PRIMARY KEY (tenant_id, id)
  ) PARTITION BY RANGE (id);
  CREATE INDEX calls_of_proxy ON calls (tenant_id, proxy_id, id) INCLUDE (status, outcome)
    WHERE proxy_id IS NOT NULL;
  CREATE INDEX calls_of_reactor ON calls (tenant_id, reactor_id, id) INCLUDE (status, outcome)
    WHERE reactor_id IS NOT NULL;
  CREATE INDEX calls_of_application ON calls (tenant_id, application_id, id)
    INCLUDE (status, outcome);
  CREATE INDEX calls_of_status ON calls (tenant_id, status, id);
  CREATE INDEX calls_of_outcome ON calls (tenant_id, outcome, id);
  CREATE INDEX calls_of_trace ON calls (tenant_id, trace_id, id);
  CREATE TABLE calls_default PARTITION OF calls DEFAULT;
  ALTER TABLE calls_default ENABLE ROW LEVEL SECURITY;
  GRANT INSERT ON calls TO glovebox_data;
  GRANT SELECT, INSERT ON calls TO glovebox_management;
  ${ofEveryTenant('calls')}
  ${writtenForAll('calls')}`;

// Rows are added and never changed: each holds the calls that one process counted for a while. The
// id begins with the minute.
const summary = `
  CREATE TABLE call_summary (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    minute timestamptz(0) NOT NULL,
    path text NOT NULL,
    proxy_id uuid,
    reactor_id uuid,
    outcome text NOT NULL,
    calls integer NOT NULL,
    duration_ms double precision NOT NULL,
    latencies integer[] NOT NULL,
    created_at timestamptz(3) NOT NULL,
    PRIMARY KEY (tenant_id, id)
  ) PARTITION BY RANGE (id);
  CREATE INDEX call_summary_of_proxy ON call_summary (tenant_id, proxy_id, id)
    WHERE proxy_id IS NOT NULL;
  CREATE INDEX call_summary_of_reactor ON call_summary (tenant_id, reactor_id, id)
    WHERE reactor_id IS NOT NULL;
  CREATE TABLE call_summary_default PARTITION OF call_summary DEFAULT;
  ALTER TABLE call_summary_default ENABLE ROW LEVEL SECURITY;
  GRANT INSERT ON call_summary TO glovebox_data;
  GRANT SELECT, INSERT ON call_summary TO glovebox_management;
  ${ofEveryTenant('call_summary')}
  ${writtenForAll('call_summary')}`;

// Workers make the partitions of these logs with those of the others.
const firstPartitions = `
  SELECT make_partition(log, starts, starts + interval '24 hours')
  FROM unnest(ARRAY['calls', 'call_summary']) log, generate_series(
    date_trunc('day', now(), 'UTC'), now() + interval '7 days', interval '24 hours') starts`;

// Goes from partition to partition, as it did for the logs before.
const deleteLogs = `
  CREATE OR REPLACE FUNCTION delete_logs_of_tenants(rows_max integer) RETURNS bigint
  LANGUAGE plpgsql ${asOwner} AS $$
  DECLARE
    gone uuid[] := ARRAY(SELECT id FROM definition_log WHERE kind = 'tenant' AND payload IS NULL);
    partition regclass;
    deleted bigint;
    total bigint := 0;
  BEGIN
    LOCK TABLE ended_runs, ended_deliveries, calls, call_summary IN ACCESS SHARE MODE;
    FOR partition IN
      SELECT relid FROM unnest(ARRAY['ended_runs', 'ended_deliveries', 'calls', 'call_summary']) log,
        pg_partition_tree(log::regclass) WHERE isleaf
    LOOP
      EXECUTE format('WITH deleted AS (DELETE FROM %1$s WHERE ctid = ANY (ARRAY('
        'SELECT ctid FROM %1$s WHERE tenant_id = ANY ($1) LIMIT $2)) RETURNING 1) '
        'SELECT count(*) FROM deleted', partition)
        INTO deleted USING gone, rows_max - total;
      total := total + deleted;
      EXIT WHEN total >= rows_max;
    END LOOP;
    RETURN total;
  END $$`;

/** The log of calls, and their counts by minute. */
export class LogCalls0000000000002 implements Migration {
  readonly kind = 'expand';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of [calls, summary, firstPartitions, deleteLogs]) {
      await queryRunner.query(statement);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits('calls', 'call_summary'));
    await queryRunner.query(deleteLogsOfTenants);
    await queryRunner.query('DROP TABLE call_summary, calls');
  }
}
