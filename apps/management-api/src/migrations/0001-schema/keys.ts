import { asOwner, type Subject } from './subject';

/** Data keys, each wrapped by a master key, and the version of the master key that seals. */
export const keys: Subject = {
  create: `
    CREATE TABLE data_keys (
      id uuid PRIMARY KEY,
      tenant_id uuid NOT NULL,
      period text NOT NULL,
      master_version integer NOT NULL,
      wrapped bytea NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      UNIQUE (tenant_id, period)
    );
    GRANT SELECT, INSERT ON data_keys TO glovebox_management, glovebox_data;
    GRANT DELETE ON data_keys TO glovebox_management;
    -- The rotation may replace values that the ring sealed. It may not add, remove or read anything
    -- else.
    GRANT SELECT, UPDATE (wrapped, master_version) ON data_keys TO glovebox_rotation;
    -- A key is read by id before its tenant is known, and is wrapped for its tenant alone. The keys
    -- of the installation have no tenant.
    ALTER TABLE data_keys ENABLE ROW LEVEL SECURITY;
    CREATE POLICY fetched ON data_keys
      TO glovebox_management, glovebox_data USING (true) WITH CHECK (true);
    -- Restrictive: no policy can allow deleting the keys of another tenant, or those of the
    -- installation, which have no tenant.
    CREATE POLICY erased ON data_keys AS RESTRICTIVE FOR DELETE
      TO glovebox_management USING (tenant_id = current_tenant());
    CREATE POLICY rotated ON data_keys TO glovebox_rotation USING (true);

    CREATE FUNCTION master_version_of(sealed bytea) RETURNS integer
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
      SELECT CASE WHEN length(sealed) >= 5 AND get_byte(sealed, 0) = 2
        THEN ('x' || encode(substring(sealed FROM 2 FOR 4), 'hex'))::bit(32)::integer END
    $$;
    CREATE TABLE sealing_version (
      singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      version integer NOT NULL CHECK (version > 0)
    );
    -- Transactions that seal hold the lock in shared mode until they commit. Raising the version
    -- waits for all of them. A row lock would not do: newcomers could overtake the waiter for ever.
    CREATE FUNCTION sealing_version(newest integer) RETURNS integer
    LANGUAGE plpgsql ${asOwner} AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock_shared(hashtext('glovebox sealing version'));
      INSERT INTO sealing_version (version) VALUES (newest) ON CONFLICT DO NOTHING;
      RETURN (SELECT version FROM sealing_version);
    END $$;
    CREATE FUNCTION raise_sealing_version(raised integer) RETURNS void
    LANGUAGE plpgsql ${asOwner} AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtext('glovebox sealing version'));
      UPDATE sealing_version SET version = raised WHERE version < raised;
    END $$;
    REVOKE ALL ON FUNCTION sealing_version(integer), raise_sealing_version(integer) FROM PUBLIC;
    GRANT EXECUTE ON FUNCTION sealing_version(integer)
      TO glovebox_management, glovebox_data, glovebox_rotation;
    GRANT EXECUTE ON FUNCTION raise_sealing_version(integer) TO glovebox_rotation`,
  drop: `
    DROP FUNCTION raise_sealing_version(integer);
    DROP FUNCTION sealing_version(integer);
    DROP TABLE sealing_version, data_keys;
    DROP FUNCTION master_version_of(bytea)`,
};
