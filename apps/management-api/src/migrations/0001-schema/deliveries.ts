import { ofEveryTenant, type Subject } from './subject';

/** Finds the first attempts by path. */
export const firstAttempts = `
  CREATE INDEX webhook_deliveries_of_path ON webhook_deliveries (tenant_id,
    coalesce(receiver, tenant_id::text), (coalesce(path, receiver, tenant_id::text) COLLATE "C"),
    next_attempt_at) WHERE status = 'pending' AND attempts = 0;`;

/** Paths of receivers whose last attempt failed. */
export const failingPaths = `
  CREATE TABLE failing_webhook_paths (
    tenant_id uuid NOT NULL,
    path text COLLATE "C" NOT NULL,
    failed_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, path)
  );
  CREATE INDEX failing_webhook_paths_oldest ON failing_webhook_paths (failed_at);
  GRANT SELECT, INSERT, UPDATE, DELETE ON failing_webhook_paths TO glovebox_data;
  ALTER TABLE failing_webhook_paths ENABLE ROW LEVEL SECURITY;
  CREATE POLICY data_plane ON failing_webhook_paths TO glovebox_data
    USING (true) WITH CHECK (true);`;

/** The management API puts an ended webhook back into the queue, or makes one due at once. */
export const sentAgain = `
  GRANT UPDATE (attempts, unsent_tries, next_attempt_at) ON webhook_deliveries
    TO glovebox_management;`;

/** For a token that is gone: finds the ended webhooks that show it. */
export const deliveriesOfTokens = `
  CREATE INDEX ended_deliveries_of_tokens ON ended_deliveries
    USING gin (tokens_seen(tenant_id, sights)) WITH (fastupdate = off)
    WHERE body IS NOT NULL AND sights IS NOT NULL;
  ALTER INDEX ended_deliveries_default_tokens_seen_idx
    RENAME TO ended_deliveries_default_of_tokens;`;

/** The queue of webhooks, and the log of those that have ended. */
export const deliveries: Subject = {
  create: `
    CREATE TABLE webhook_deliveries (
      id uuid PRIMARY KEY,
      tenant_id uuid NOT NULL,
      run_id uuid NOT NULL,
      webhook_id text NOT NULL,
      callback_url bytea NOT NULL,
      body bytea NOT NULL,
      status text NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
      attempts integer NOT NULL DEFAULT 0,
      next_attempt_at timestamptz(3) NOT NULL,
      fence bigint NOT NULL DEFAULT 0,
      last_outcome text,
      created_at timestamptz(3) NOT NULL,
      delivered_at timestamptz(3),
      receiver text,
      unsent_tries integer NOT NULL DEFAULT 0,
      reactor_id uuid,
      attempt_log jsonb NOT NULL DEFAULT '[]',
      place smallint,
      place_until timestamptz,
      sights jsonb,
      path text
    );
    CREATE INDEX webhook_deliveries_due ON webhook_deliveries (tenant_id, next_attempt_at)
      WHERE status = 'pending';
    CREATE INDEX webhook_deliveries_of_receiver ON webhook_deliveries
      (tenant_id, coalesce(receiver, tenant_id::text), next_attempt_at) WHERE status = 'pending';
    ${firstAttempts}
    -- A webhook that is under way has one of the places of its receiver.
    CREATE UNIQUE INDEX webhook_deliveries_places ON webhook_deliveries
      (tenant_id, coalesce(receiver, tenant_id::text), place) WHERE place IS NOT NULL;
    CREATE INDEX webhook_deliveries_ended ON webhook_deliveries (next_attempt_at)
      WHERE status <> 'pending';
    CREATE INDEX webhook_deliveries_of_tenant ON webhook_deliveries (tenant_id, id);
    GRANT SELECT, INSERT, DELETE ON webhook_deliveries TO glovebox_management;
    ${sentAgain}
    GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_deliveries TO glovebox_data;
    ${ofEveryTenant('webhook_deliveries')}
    ${failingPaths}

    -- Ordered and partitioned by ids that begin with their time. Other ids are in the default one.
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
      sights jsonb,
      path text,
      PRIMARY KEY (tenant_id, id) INCLUDE (status)
    ) PARTITION BY RANGE (id);
    ALTER TABLE ended_deliveries ALTER COLUMN body SET STORAGE EXTERNAL;
    CREATE INDEX ended_deliveries_of_reactor ON ended_deliveries (tenant_id, reactor_id, id)
      INCLUDE (status);
    CREATE INDEX ended_deliveries_of_receiver ON ended_deliveries (tenant_id, receiver, id)
      INCLUDE (status);
    CREATE INDEX ended_deliveries_with_body ON ended_deliveries (ended_at) WHERE body IS NOT NULL;
    CREATE TABLE ended_deliveries_default PARTITION OF ended_deliveries DEFAULT;
    ALTER TABLE ended_deliveries_default ENABLE ROW LEVEL SECURITY;
    ${deliveriesOfTokens}
    GRANT INSERT ON ended_deliveries TO glovebox_data;
    GRANT SELECT, DELETE ON ended_deliveries TO glovebox_management;
    ${ofEveryTenant('ended_deliveries')}`,
  drop: `DROP TABLE ended_deliveries, failing_webhook_paths, webhook_deliveries`,
};
