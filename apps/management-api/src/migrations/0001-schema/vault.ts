import { asOwner, ofEveryTenant, type Subject } from './subject';

// Terms know what lists need to know of their token. A change of a token writes its terms anew.
export const copyToken = `
  CREATE FUNCTION copy_token() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
  BEGIN
    SELECT t.created_at, t.container, t.type, t.expires_at
    INTO NEW.created_at, NEW.container, NEW.type, NEW.expires_at
    FROM tokens t WHERE t.tenant_id = NEW.tenant_id AND t.id = NEW.token_id;
    RETURN NEW;
  END $$;
  CREATE TRIGGER copy_token BEFORE INSERT ON token_terms
    FOR EACH ROW EXECUTE FUNCTION copy_token();`;

// Every list that is filtered by one thing has an index in its order: a page reads its own entries
// and those before them. Counting and paging use the indexes alone.
export const filteredLists = `
  CREATE INDEX tokens_of_group ON tokens (tenant_id, container, type, created_at DESC, id)
    INCLUDE (expires_at);
  CREATE INDEX tokens_fingerprint ON tokens (tenant_id, fingerprint, created_at DESC, id)
    INCLUDE (container, type, expires_at);
  CREATE INDEX token_terms_newest ON token_terms (tenant_id, term, created_at DESC, token_id)
    INCLUDE (container, type, expires_at);`;

// Counts the tokens of a tenant by container and type, in slots: a transaction takes a slot that no
// other one holds, or makes a new one. So no writer waits for another, in whatever order it counts.
// The slot is locked before the statement that changes it takes its snapshot. Slots that are full
// are taken first, so that those of a deleted container come to nothing.
export const tokenCounts = `
  CREATE TABLE token_counts (
    tenant_id uuid NOT NULL,
    container text NOT NULL,
    type text NOT NULL,
    count bigint NOT NULL
  ) WITH (fillfactor = 50);
  CREATE INDEX token_counts_of_tenant ON token_counts (tenant_id, container, type);
  GRANT SELECT ON token_counts TO glovebox_management, glovebox_data;
  ALTER TABLE token_counts ENABLE ROW LEVEL SECURITY;
  CREATE POLICY own ON token_counts FOR SELECT
    TO glovebox_management USING (tenant_id = current_tenant());
  CREATE POLICY data_plane ON token_counts FOR SELECT TO glovebox_data USING (true);

  CREATE FUNCTION add_to_token_count(of_tenant uuid, of_container text, of_type text, change bigint)
  RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    slot tid;
    held bigint;
  BEGIN
    SELECT c.ctid, c.count INTO slot, held FROM token_counts c
    WHERE c.tenant_id = of_tenant AND c.container = of_container AND c.type = of_type
    ORDER BY c.count DESC LIMIT 1 FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      INSERT INTO token_counts VALUES (of_tenant, of_container, of_type, change);
    ELSIF held + change = 0 THEN
      DELETE FROM token_counts WHERE ctid = slot;
    ELSE
      UPDATE token_counts SET count = count + change WHERE ctid = slot;
    END IF;
  END $$;
  REVOKE ALL ON FUNCTION add_to_token_count(uuid, text, text, bigint) FROM PUBLIC;

  CREATE FUNCTION count_tokens() RETURNS trigger LANGUAGE plpgsql ${asOwner} AS $$
  BEGIN
    IF TG_OP = 'INSERT' THEN
      PERFORM add_to_token_count(tenant_id, container, type, count(*))
      FROM added GROUP BY tenant_id, container, type;
    ELSIF TG_OP = 'DELETE' THEN
      PERFORM add_to_token_count(tenant_id, container, type, -count(*))
      FROM removed GROUP BY tenant_id, container, type;
    ELSE
      PERFORM add_to_token_count(tenant_id, container, type, sum(change)) FROM (
        SELECT tenant_id, container, type, 1 AS change FROM added
        UNION ALL SELECT tenant_id, container, type, -1 FROM removed) changes
      GROUP BY tenant_id, container, type HAVING sum(change) <> 0;
    END IF;
    RETURN NULL;
  END $$;
  REVOKE ALL ON FUNCTION count_tokens() FROM PUBLIC;
  CREATE TRIGGER count_inserted AFTER INSERT ON tokens REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_tokens();
  CREATE TRIGGER count_updated AFTER UPDATE ON tokens
    REFERENCING OLD TABLE AS removed NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_tokens();
  CREATE TRIGGER count_deleted AFTER DELETE ON tokens REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION count_tokens();`;

// Notes each token that is deleted, in whatever way, so that the answers that show it are erased.
// Only the owner sees these rows. A token that was made at another time took the id of one that is
// gone.
export const goneTokens = `
  CREATE FUNCTION token_key(tenant uuid, token text) RETURNS bigint
  LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT hashtextextended(tenant::text || ' ' || token, 0)
  $$;
  CREATE FUNCTION tokens_seen(tenant uuid, sights jsonb) RETURNS bigint[]
  LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT array_agg(DISTINCT token_key(tenant, id))
    FROM jsonb_array_elements(sights) sight, jsonb_array_elements_text(sight -> 'ids') id
  $$;
  CREATE FUNCTION sights_are_gone(tenant uuid, sights jsonb)
  RETURNS boolean LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
      SELECT FROM jsonb_array_elements(sights) sight
      CROSS JOIN ROWS FROM (jsonb_array_elements_text(sight -> 'ids'),
        jsonb_array_elements_text(sight -> 'madeAt')) seen (id, made_at)
      WHERE NOT EXISTS (
        SELECT FROM tokens t
        WHERE t.tenant_id = tenant AND t.id = seen.id
          AND (t.expires_at IS NULL OR t.expires_at > now())
          AND extract(epoch FROM t.created_at) * 1000 = seen.made_at::numeric))
  $$;
  CREATE TABLE gone_tokens (
    tenant_id uuid NOT NULL,
    key bigint NOT NULL,
    due_at timestamptz(3) NOT NULL DEFAULT now(),
    is_second boolean NOT NULL DEFAULT false
  );
  CREATE INDEX gone_tokens_due ON gone_tokens (due_at);
  ALTER TABLE gone_tokens ENABLE ROW LEVEL SECURITY;
  CREATE FUNCTION note_gone_tokens() RETURNS trigger LANGUAGE plpgsql ${asOwner} AS $$
  BEGIN
    INSERT INTO gone_tokens (tenant_id, key)
      SELECT tenant_id, token_key(tenant_id, id) FROM deleted;
    RETURN NULL;
  END $$;
  REVOKE ALL ON FUNCTION note_gone_tokens() FROM PUBLIC;
  CREATE TRIGGER gone AFTER DELETE ON tokens REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION note_gone_tokens();`;

/** Tokens and their search terms, their counts, and the notes of those that are gone. */
export const vault: Subject = {
  create: `
    -- The expressions of a token (options) are sealed, since customers may write data into them.
    CREATE TABLE tokens (
      tenant_id uuid NOT NULL,
      id text NOT NULL,
      type text NOT NULL,
      container text NOT NULL,
      data bytea NOT NULL,
      mask bytea,
      metadata jsonb,
      fingerprint text,
      expires_at timestamptz(3),
      created_by uuid,
      created_at timestamptz(3) NOT NULL,
      modified_by uuid,
      modified_at timestamptz(3),
      options bytea,
      PRIMARY KEY (tenant_id, id)
    );
    CREATE INDEX tokens_newest ON tokens (tenant_id, created_at DESC, id)
      INCLUDE (container, type, expires_at);
    CREATE INDEX tokens_expired ON tokens (expires_at) WHERE expires_at IS NOT NULL;
    GRANT SELECT, INSERT, UPDATE, DELETE ON tokens TO glovebox_management, glovebox_data;
    ${ofEveryTenant('tokens')}

    -- Search terms of tokens as keyed hashes. Metadata is found here as well: under row-level
    -- security an index can answer equality of texts, but not containment in JSON.
    CREATE TABLE token_terms (
      tenant_id uuid NOT NULL,
      term text NOT NULL,
      token_id text NOT NULL,
      created_at timestamptz(3),
      container text,
      type text,
      expires_at timestamptz(3),
      PRIMARY KEY (tenant_id, term, token_id),
      FOREIGN KEY (tenant_id, token_id) REFERENCES tokens ON DELETE CASCADE
    );
    CREATE INDEX token_terms_of_token ON token_terms (tenant_id, token_id);
    GRANT SELECT, INSERT, DELETE ON token_terms TO glovebox_management, glovebox_data;
    ${ofEveryTenant('token_terms')}
    ${copyToken}
    ${filteredLists}
    ${tokenCounts}
    ${goneTokens}`,
  drop: `
    DROP TABLE gone_tokens, token_counts, token_terms, tokens;
    DROP FUNCTION note_gone_tokens();
    DROP FUNCTION sights_are_gone(uuid, jsonb);
    DROP FUNCTION tokens_seen(uuid, jsonb);
    DROP FUNCTION token_key(uuid, text);
    DROP FUNCTION count_tokens();
    DROP FUNCTION add_to_token_count(uuid, text, text, bigint);
    DROP FUNCTION copy_token()`,
};
