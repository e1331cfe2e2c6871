import { ofOneTenant, type Subject } from './subject';

/** For a token that is gone: finds the stored answers that show it. */
export const answersOfTokens = `
  -- Without a list of what is new: that list would be read whole for each token.
  CREATE INDEX idempotency_keys_of_tokens ON idempotency_keys
    USING gin (tokens_seen(tenant_id, sights)) WITH (fastupdate = off)
    WHERE response IS NOT NULL AND sights IS NOT NULL;`;

/** Calls that came with an idempotency key, and their answers. */
export const idempotency: Subject = {
  create: `
    -- Both hashes are keyed: a body may hold a card number, which a bare hash would give away.
    -- run_bytes is null in the rows of the management API, which the data plane never sees.
    CREATE TABLE idempotency_keys (
      tenant_id uuid NOT NULL,
      application_id uuid NOT NULL,
      path text NOT NULL,
      key_hash text NOT NULL,
      body_hash text NOT NULL,
      owner uuid NOT NULL,
      lease_until timestamptz(3) NOT NULL,
      status smallint,
      response bytea,
      created_at timestamptz(3) NOT NULL,
      sights jsonb,
      run_bytes integer,
      outcome text,
      run_id uuid,
      ended_at timestamptz(3),
      PRIMARY KEY (application_id, path, key_hash)
    );
    CREATE INDEX idempotency_keys_oldest ON idempotency_keys (created_at);
    CREATE INDEX idempotency_keys_of_runs ON idempotency_keys (tenant_id) INCLUDE (run_bytes)
      WHERE run_bytes IS NOT NULL;
    ${answersOfTokens}
    GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_keys TO glovebox_management, glovebox_data;
    ${ofOneTenant('idempotency_keys')}
    CREATE POLICY runs ON idempotency_keys TO glovebox_data
      USING (run_bytes IS NOT NULL) WITH CHECK (run_bytes IS NOT NULL)`,
  drop: `DROP TABLE idempotency_keys`,
};
