import { asOwner, ofOneTenant, type Subject } from './subject';

const tables = ['applications', 'application_keys', 'reactor_formulas', 'reactors', 'proxies'];

/**
 * Tenants and what they own. The index `…_newest` contains the name: counting a list and searching
 * it by name use the index alone, and only the rows of the page are read.
 */
export const resources: Subject = {
  create: `
    CREATE TABLE tenants (
      id uuid PRIMARY KEY,
      name text NOT NULL,
      settings jsonb NOT NULL,
      webhook_secrets bytea NOT NULL,
      created_at timestamptz(3) NOT NULL,
      modified_by uuid,
      modified_at timestamptz(3)
    );
    GRANT SELECT, INSERT, UPDATE, DELETE ON tenants TO glovebox_management;
    ALTER TABLE tenants ENABLE ROW LEVEL SECURITY;
    CREATE POLICY tenant ON tenants TO glovebox_management
      USING (id = current_tenant()) WITH CHECK (id = current_tenant());

    CREATE TABLE applications (
      id uuid PRIMARY KEY,
      tenant_id uuid NOT NULL CONSTRAINT applications_tenant_fk REFERENCES tenants,
      name text NOT NULL,
      type text NOT NULL,
      permissions text[] NOT NULL,
      rules jsonb NOT NULL,
      expires_at timestamptz(3),
      created_by uuid,
      created_at timestamptz(3) NOT NULL,
      modified_by uuid,
      modified_at timestamptz(3)
    );
    CREATE INDEX applications_newest ON applications (tenant_id, created_at DESC, id)
      INCLUDE (name);

    CREATE TABLE application_keys (
      id uuid PRIMARY KEY,
      tenant_id uuid NOT NULL CONSTRAINT application_keys_tenant_fk REFERENCES tenants,
      application_id uuid NOT NULL
        CONSTRAINT application_keys_application_fk REFERENCES applications ON DELETE CASCADE,
      key_hash text NOT NULL CONSTRAINT application_keys_hash_unique UNIQUE,
      created_by uuid,
      created_at timestamptz(3) NOT NULL,
      last_used_at timestamptz(3)
    );
    CREATE INDEX application_keys_of_application ON application_keys (application_id);

    CREATE TABLE reactor_formulas (
      id uuid PRIMARY KEY,
      tenant_id uuid NOT NULL CONSTRAINT reactor_formulas_tenant_fk REFERENCES tenants,
      type text NOT NULL,
      name text NOT NULL,
      description text,
      icon text,
      code text NOT NULL,
      configuration jsonb NOT NULL,
      request_parameters jsonb NOT NULL,
      runtime text NOT NULL,
      created_by uuid,
      created_at timestamptz(3) NOT NULL,
      modified_by uuid,
      modified_at timestamptz(3)
    );
    CREATE INDEX reactor_formulas_newest ON reactor_formulas (tenant_id, created_at DESC, id)
      INCLUDE (name);

    -- No foreign key on application_id: an application can be deleted while something uses it.
    CREATE TABLE reactors (
      id uuid PRIMARY KEY,
      tenant_id uuid NOT NULL CONSTRAINT reactors_tenant_fk REFERENCES tenants,
      name text NOT NULL,
      formula_id uuid NOT NULL CONSTRAINT reactors_formula_fk REFERENCES reactor_formulas,
      application_id uuid,
      configuration bytea NOT NULL,
      isolation text NOT NULL,
      created_by uuid,
      created_at timestamptz(3) NOT NULL,
      modified_by uuid,
      modified_at timestamptz(3)
    );
    CREATE INDEX reactors_newest ON reactors (tenant_id, created_at DESC, id) INCLUDE (name);
    CREATE INDEX reactors_of_formula ON reactors (formula_id);

    -- Steps are sealed like the configuration, because one may append a destination's secret.
    CREATE TABLE proxies (
      id uuid PRIMARY KEY,
      tenant_id uuid NOT NULL CONSTRAINT proxies_tenant_fk REFERENCES tenants,
      name text NOT NULL,
      key bytea NOT NULL,
      key_hash text NOT NULL CONSTRAINT proxies_key_hash_unique UNIQUE,
      destination_url text NOT NULL,
      require_auth boolean NOT NULL,
      detokenize boolean NOT NULL,
      request_transform jsonb,
      response_transform jsonb,
      application_id uuid,
      configuration bytea,
      isolation text NOT NULL,
      timeout_ms integer,
      created_by uuid,
      created_at timestamptz(3) NOT NULL,
      modified_by uuid,
      modified_at timestamptz(3),
      tls bytea,
      steps bytea
    );
    CREATE INDEX proxies_newest ON proxies (tenant_id, created_at DESC, id) INCLUDE (name);

    GRANT SELECT, INSERT, UPDATE, DELETE ON ${tables.join(', ')} TO glovebox_management;
    ${tables.map(ofOneTenant).join('')}

    -- Writes the keys of all tenants together. A key is written once a minute, however many
    -- processes see it. A row locked by another transaction is left for the next use, so nothing
    -- waits.
    CREATE FUNCTION record_key_uses(hashes text[]) RETURNS void LANGUAGE sql ${asOwner} AS $$
      UPDATE application_keys SET last_used_at = now() WHERE id IN (
        SELECT id FROM application_keys WHERE key_hash = ANY (hashes)
          AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')
        FOR UPDATE SKIP LOCKED)
    $$;
    REVOKE ALL ON FUNCTION record_key_uses(text[]) FROM PUBLIC;
    GRANT EXECUTE ON FUNCTION record_key_uses(text[]) TO glovebox_management, glovebox_data`,
  drop: `
    DROP FUNCTION record_key_uses(text[]);
    DROP TABLE ${tables.toReversed().join(', ')}, tenants`,
};
