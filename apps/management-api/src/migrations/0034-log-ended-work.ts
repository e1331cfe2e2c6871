import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createPartitionFunctions, dropPartitionFunctions } from './partition-functions';

/** Creates the logs of runs and webhooks that have ended, in a partition for each day. */
export class LogEndedWork0000000000034 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await createPartitionFunctions(queryRunner);
    // Both logs are ordered and partitioned by ids that begin with their time. Ids of the releases
    // before, which do not, are in the default partition.
    await queryRunner.query(`
      CREATE TABLE ended_runs (
        tenant_id uuid NOT NULL,
        id uuid NOT NULL,
        kind text NOT NULL,
        resource_id uuid NOT NULL,
        application_id uuid,
        mode text NOT NULL,
        status text NOT NULL,
        outcome text NOT NULL,
        http_status smallint NOT NULL,
        argument_names text[] NOT NULL,
        token_ids text[] NOT NULL,
        trace_id text NOT NULL,
        attempt integer NOT NULL,
        queued_ms integer NOT NULL,
        duration_ms integer NOT NULL,
        position jsonb,
        lines bytea,
        created_at timestamptz(3) NOT NULL,
        started_at timestamptz(3),
        ended_at timestamptz(3) NOT NULL,
        PRIMARY KEY (tenant_id, id) INCLUDE (kind, status)
      ) PARTITION BY RANGE (id);
      CREATE INDEX ended_runs_of_resource ON ended_runs (tenant_id, resource_id, id)
        INCLUDE (kind, status);
      CREATE INDEX ended_runs_of_trace ON ended_runs (tenant_id, trace_id, id);
      ALTER TABLE ended_runs ALTER COLUMN lines SET STORAGE EXTERNAL;
      CREATE TABLE ended_runs_default PARTITION OF ended_runs DEFAULT;
      GRANT INSERT ON ended_runs TO glovebox_data;
      GRANT SELECT ON ended_runs TO glovebox_management`);
    await queryRunner.query(`
      CREATE TABLE ended_deliveries (
        tenant_id uuid NOT NULL,
        id uuid NOT NULL,
        run_id uuid NOT NULL,
        reactor_id uuid,
        webhook_id text NOT NULL,
        status text NOT NULL,
        callback_url bytea NOT NULL,
        receiver text,
        body bytea,
        attempt_log jsonb NOT NULL,
        outcome text,
        created_at timestamptz(3) NOT NULL,
        ended_at timestamptz(3) NOT NULL,
        PRIMARY KEY (tenant_id, id) INCLUDE (status)
      ) PARTITION BY RANGE (id);
      CREATE INDEX ended_deliveries_of_reactor ON ended_deliveries (tenant_id, reactor_id, id)
        INCLUDE (status);
      CREATE INDEX ended_deliveries_of_receiver ON ended_deliveries (tenant_id, receiver, id)
        INCLUDE (status);
      CREATE INDEX ended_deliveries_with_body ON ended_deliveries (ended_at)
        WHERE body IS NOT NULL;
      ALTER TABLE ended_deliveries ALTER COLUMN body SET STORAGE EXTERNAL;
      CREATE TABLE ended_deliveries_default PARTITION OF ended_deliveries DEFAULT;
      GRANT INSERT ON ended_deliveries TO glovebox_data;
      GRANT SELECT, DELETE ON ended_deliveries TO glovebox_management`);
    for (const table of ['ended_runs', 'ended_deliveries']) {
      await queryRunner.query(`
        ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
        ALTER TABLE ${table}_default ENABLE ROW LEVEL SECURITY;
        CREATE POLICY tenant ON ${table} TO glovebox_management
          USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());
        CREATE POLICY data_plane ON ${table} TO glovebox_data USING (true) WITH CHECK (true)`);
    }
    await queryRunner.query('SELECT make_partitions()');
    await queryRunner.query(eraseBodies);
    await queryRunner.query(deleteLogsOfTenants);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP FUNCTION delete_logs_of_tenants(integer);
      DROP FUNCTION erase_ended_bodies(integer);
      DROP TABLE ended_deliveries, ended_runs`);
    await dropPartitionFunctions(queryRunner);
  }
}

// Both run as the owner, for all tenants at once: the data plane itself can only add to a log. They
// go from partition to partition, because a statement over all of them would read each row. A part
// of a partition is found by index. The lock keeps others from dropping partitions meanwhile.
const eraseBodies = `
  CREATE FUNCTION erase_ended_bodies(rows_max integer) RETURNS bigint
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  DECLARE
    partition regclass;
    erased bigint;
    total bigint := 0;
  BEGIN
    LOCK TABLE ended_deliveries IN ACCESS SHARE MODE;
    FOR partition IN SELECT relid FROM pg_partition_tree('ended_deliveries') WHERE isleaf LOOP
      EXECUTE format('WITH erased AS (UPDATE %1$s SET body = NULL WHERE ctid = ANY (ARRAY('
        'SELECT ctid FROM %1$s WHERE body IS NOT NULL AND ended_at < now() - $1 '
        'ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING 1) '
        'SELECT count(*) FROM erased', partition)
        INTO erased USING interval '24 hours', rows_max - total;
      total := total + erased;
      EXIT WHEN total >= rows_max;
    END LOOP;
    RETURN total;
  END $$;
  REVOKE ALL ON FUNCTION erase_ended_bodies(integer) FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION erase_ended_bodies(integer) TO glovebox_data`;

const deleteLogsOfTenants = `
  CREATE FUNCTION delete_logs_of_tenants(rows_max integer) RETURNS bigint
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
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
  END $$;
  REVOKE ALL ON FUNCTION delete_logs_of_tenants(integer) FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION delete_logs_of_tenants(integer) TO glovebox_data`;
