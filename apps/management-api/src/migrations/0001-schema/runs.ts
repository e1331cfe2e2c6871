import { ofEveryTenant, type Subject } from './subject';

/** The queue of async runs, and the log of runs that have ended. */
export const runs: Subject = {
  create: `
    CREATE TABLE reactor_runs (
      id uuid PRIMARY KEY,
      tenant_id uuid NOT NULL,
      reactor_id uuid NOT NULL,
      actor_id uuid NOT NULL,
      status text NOT NULL CHECK (status IN ('pending', 'running', 'completed', 'failed')),
      arguments bytea NOT NULL,
      callback_url bytea NOT NULL,
      timeout_ms integer NOT NULL,
      trace_id text NOT NULL,
      fence bigint NOT NULL DEFAULT 0,
      faults integer NOT NULL DEFAULT 0,
      result bytea,
      created_at timestamptz(3) NOT NULL,
      started_at timestamptz(3),
      finished_at timestamptz(3),
      lease_until timestamptz(3),
      due_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX reactor_runs_due ON reactor_runs (tenant_id, due_at) WHERE status = 'pending';
    CREATE INDEX reactor_runs_running ON reactor_runs (lease_until) WHERE status = 'running';
    CREATE INDEX reactor_runs_ended ON reactor_runs (finished_at) WHERE finished_at IS NOT NULL;
    CREATE INDEX reactor_runs_of_tenant ON reactor_runs (tenant_id, id);
    GRANT SELECT, DELETE ON reactor_runs TO glovebox_management;
    GRANT SELECT, INSERT, UPDATE, DELETE ON reactor_runs TO glovebox_data;
    ${ofEveryTenant('reactor_runs')}

    -- Ordered and partitioned by ids that begin with their time. Other ids are in the default one.
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
    ALTER TABLE ended_runs ALTER COLUMN lines SET STORAGE EXTERNAL;
    CREATE INDEX ended_runs_of_resource ON ended_runs (tenant_id, resource_id, id)
      INCLUDE (kind, status);
    CREATE INDEX ended_runs_of_trace ON ended_runs (tenant_id, trace_id, id);
    CREATE TABLE ended_runs_default PARTITION OF ended_runs DEFAULT;
    ALTER TABLE ended_runs_default ENABLE ROW LEVEL SECURITY;
    GRANT INSERT ON ended_runs TO glovebox_data;
    GRANT SELECT ON ended_runs TO glovebox_management;
    ${ofEveryTenant('ended_runs')}`,
  drop: `DROP TABLE ended_runs, reactor_runs`,
};
