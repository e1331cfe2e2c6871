import { asOwner, type Subject } from './subject';

/** The head and the log of definitions, and what each tenant has of them. */
export const definitions: Subject = {
  create: `
    -- Null outside a tenant's transaction: every policy then compares with null and admits nothing.
    CREATE FUNCTION current_tenant() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE AS
    $$ SELECT NULLIF(current_setting('glovebox.tenant_id', true), '')::uuid $$;

    CREATE TABLE definition_head (
      singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      epoch uuid NOT NULL DEFAULT gen_random_uuid(),
      version bigint NOT NULL DEFAULT 0
    );
    INSERT INTO definition_head DEFAULT VALUES;
    GRANT SELECT, UPDATE (version) ON definition_head TO glovebox_management;
    GRANT SELECT ON definition_head TO glovebox_data;
    GRANT SELECT, UPDATE (version) ON definition_head TO glovebox_rotation;

    CREATE TABLE definition_log (
      version bigint NOT NULL UNIQUE,
      kind text NOT NULL,
      id uuid NOT NULL,
      tenant_id uuid NOT NULL,
      payload bytea,
      PRIMARY KEY (kind, id)
    );
    CREATE INDEX definition_log_of_tenant ON definition_log (tenant_id) WHERE payload IS NOT NULL;
    GRANT SELECT, INSERT, UPDATE ON definition_log TO glovebox_management;
    GRANT SELECT ON definition_log TO glovebox_data;
    GRANT SELECT, UPDATE (version, payload) ON definition_log TO glovebox_rotation;
    -- Each process reads the definitions of all tenants but writes those of one.
    ALTER TABLE definition_log ENABLE ROW LEVEL SECURITY;
    CREATE POLICY followed ON definition_log FOR SELECT
      TO glovebox_management, glovebox_data USING (true);
    CREATE POLICY appended ON definition_log FOR INSERT
      TO glovebox_management WITH CHECK (tenant_id = current_tenant());
    CREATE POLICY replaced ON definition_log FOR UPDATE
      TO glovebox_management USING (tenant_id = current_tenant());
    CREATE POLICY rotated ON definition_log TO glovebox_rotation USING (true);

    CREATE TABLE definition_sizes (
      tenant_id uuid PRIMARY KEY,
      definitions bigint NOT NULL,
      bytes bigint NOT NULL
    );
    GRANT SELECT ON definition_sizes TO glovebox_management;
    ALTER TABLE definition_sizes ENABLE ROW LEVEL SECURITY;
    CREATE POLICY own ON definition_sizes FOR SELECT
      TO glovebox_management USING (tenant_id = current_tenant());

    -- A statement that writes the log holds its head, so no other one counts at the same time.
    CREATE FUNCTION count_definitions() RETURNS trigger LANGUAGE plpgsql ${asOwner} AS $$
    BEGIN
      -- An upsert calls both triggers, and one of them has nothing to count.
      IF TG_OP = 'INSERT' THEN
        IF NOT EXISTS (SELECT FROM written) THEN RETURN NULL; END IF;
        INSERT INTO definition_sizes AS s (tenant_id, definitions, bytes)
        SELECT tenant_id, count(*), sum(octet_length(payload))
        FROM written WHERE payload IS NOT NULL GROUP BY tenant_id
        ON CONFLICT (tenant_id) DO UPDATE SET
          definitions = s.definitions + excluded.definitions, bytes = s.bytes + excluded.bytes;
      ELSE
        IF NOT EXISTS (SELECT FROM replaced) THEN RETURN NULL; END IF;
        INSERT INTO definition_sizes AS s (tenant_id, definitions, bytes)
        SELECT tenant_id, sum(definitions), sum(bytes) FROM (
          SELECT tenant_id, 1 AS definitions, octet_length(payload) AS bytes
          FROM written WHERE payload IS NOT NULL
          UNION ALL
          SELECT tenant_id, -1, -octet_length(payload) FROM replaced WHERE payload IS NOT NULL
        ) changes
        GROUP BY tenant_id HAVING sum(definitions) <> 0 OR sum(bytes) <> 0
        ON CONFLICT (tenant_id) DO UPDATE SET
          definitions = s.definitions + excluded.definitions, bytes = s.bytes + excluded.bytes;
        DELETE FROM definition_sizes s
        WHERE s.definitions = 0 AND s.tenant_id IN (SELECT tenant_id FROM replaced);
      END IF;
      RETURN NULL;
    END $$;
    REVOKE ALL ON FUNCTION count_definitions() FROM PUBLIC;
    CREATE TRIGGER inserted AFTER INSERT ON definition_log REFERENCING NEW TABLE AS written
      FOR EACH STATEMENT EXECUTE FUNCTION count_definitions();
    CREATE TRIGGER updated AFTER UPDATE ON definition_log
      REFERENCING OLD TABLE AS replaced NEW TABLE AS written
      FOR EACH STATEMENT EXECUTE FUNCTION count_definitions()`,
  drop: `
    DROP TABLE definition_log, definition_sizes, definition_head;
    DROP FUNCTION count_definitions();
    DROP FUNCTION current_tenant()`,
};
