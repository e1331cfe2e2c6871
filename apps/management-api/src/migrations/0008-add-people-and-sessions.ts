import type { QueryRunner } from 'typeorm';
import { asOwner, ofEveryTenant, ofOneTenant } from './0001-schema/subject';
import { shortWaits } from './build-index';
import type { Migration } from './migration';

/** Workers run what a person has started. The role is that of the last sign-in. */
const people = `
  CREATE TABLE people (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL CONSTRAINT people_tenant_fk REFERENCES tenants,
    issuer text NOT NULL,
    subject text NOT NULL,
    name text NOT NULL,
    role text NOT NULL,
    created_at timestamptz(3) NOT NULL,
    CONSTRAINT people_subject_unique UNIQUE (tenant_id, issuer, subject)
  );
  GRANT SELECT, INSERT, UPDATE, DELETE ON people TO glovebox_management;
  GRANT SELECT ON people TO glovebox_data;
  ${ofEveryTenant('people')}`;

/** Each is used once: whoever deletes its row has a session. */
const codes = `
  CREATE TABLE console_codes (
    code_hash text PRIMARY KEY,
    tenant_id uuid NOT NULL,
    person_id uuid NOT NULL CONSTRAINT console_codes_person_fk REFERENCES people ON DELETE CASCADE,
    binding_hash text,
    expires_at timestamptz(3) NOT NULL
  );
  CREATE INDEX console_codes_of_person ON console_codes (person_id);
  CREATE INDEX console_codes_oldest ON console_codes (expires_at);
  GRANT SELECT, INSERT, UPDATE, DELETE ON console_codes TO glovebox_management;
  ${ofOneTenant('console_codes')}`;

const sessions = `
  CREATE TABLE console_sessions (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    person_id uuid NOT NULL
      CONSTRAINT console_sessions_person_fk REFERENCES people ON DELETE CASCADE,
    key_hash text NOT NULL CONSTRAINT console_sessions_hash_unique UNIQUE,
    created_at timestamptz(3) NOT NULL,
    seen_at timestamptz(3) NOT NULL
  );
  CREATE INDEX console_sessions_of_person ON console_sessions (person_id, created_at);
  CREATE INDEX console_sessions_of_tenant ON console_sessions (tenant_id, created_at);
  CREATE INDEX console_sessions_silent ON console_sessions (seen_at);
  CREATE INDEX console_sessions_oldest ON console_sessions (created_at);
  GRANT SELECT, INSERT, UPDATE, DELETE ON console_sessions TO glovebox_management;
  ${ofOneTenant('console_sessions')}`;

const isLive = `s.seen_at > now() - interval '30 minutes' AND s.created_at > now() - interval '12 hours'`;

/**
 * A key and a code are looked up by their hash before their tenant is known. A session is written
 * once a minute at most, and never waited for.
 */
const lookUps = `
  CREATE FUNCTION console_session(hash text, OUT session_id uuid, OUT tenant_id uuid,
    OUT tenant_name text, OUT person_id uuid, OUT person_name text, OUT role text)
  RETURNS SETOF record LANGUAGE sql ${asOwner} AS $$
    WITH seen AS (
      UPDATE console_sessions SET seen_at = now() WHERE id IN (
        SELECT s.id FROM console_sessions s
        WHERE s.key_hash = hash AND ${isLive} AND s.seen_at < now() - interval '1 minute'
        FOR UPDATE SKIP LOCKED)
    )
    SELECT s.id, t.id, t.name, p.id, p.name, p.role
    FROM console_sessions s JOIN people p ON p.id = s.person_id JOIN tenants t ON t.id = s.tenant_id
    WHERE s.key_hash = hash AND ${isLive}
  $$;
  CREATE FUNCTION tenant_of_console_code(hash text) RETURNS uuid LANGUAGE sql STABLE ${asOwner} AS $$
    SELECT tenant_id FROM console_codes WHERE code_hash = hash AND expires_at > now()
  $$;
  REVOKE ALL ON FUNCTION console_session(text), tenant_of_console_code(text) FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION console_session(text), tenant_of_console_code(text)
    TO glovebox_management;`;

/** Of no tenant yet: sign-ins under way at an issuer. */
const signIns = `
  CREATE TABLE console_sign_ins (
    state_hash text PRIMARY KEY,
    nonce text NOT NULL,
    verifier text NOT NULL,
    binding_hash text NOT NULL,
    expires_at timestamptz(3) NOT NULL
  );
  CREATE INDEX console_sign_ins_oldest ON console_sign_ins (expires_at);
  GRANT SELECT, INSERT, DELETE ON console_sign_ins TO glovebox_management;
  ALTER TABLE console_sign_ins ENABLE ROW LEVEL SECURITY;
  CREATE POLICY begun ON console_sign_ins TO glovebox_management USING (true) WITH CHECK (true);`;

const deleteEnded = `
  CREATE FUNCTION delete_ended_sessions(rows_max integer) RETURNS bigint
  LANGUAGE sql ${asOwner} AS $$
    WITH sessions AS (
      DELETE FROM console_sessions WHERE ctid = ANY (
        ARRAY(SELECT ctid FROM console_sessions WHERE seen_at <= now() - interval '30 minutes'
          ORDER BY seen_at LIMIT rows_max FOR UPDATE SKIP LOCKED)
        || ARRAY(SELECT ctid FROM console_sessions WHERE created_at <= now() - interval '12 hours'
          ORDER BY created_at LIMIT rows_max FOR UPDATE SKIP LOCKED)) RETURNING 1
    ), codes AS (
      DELETE FROM console_codes WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM console_codes WHERE expires_at <= now() ORDER BY expires_at LIMIT rows_max
        FOR UPDATE SKIP LOCKED)) RETURNING 1
    ), sign_ins AS (
      DELETE FROM console_sign_ins WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM console_sign_ins WHERE expires_at <= now() ORDER BY expires_at
        LIMIT rows_max FOR UPDATE SKIP LOCKED)) RETURNING 1
    )
    SELECT (SELECT count(*) FROM sessions) + (SELECT count(*) FROM codes)
      + (SELECT count(*) FROM sign_ins)
  $$;
  REVOKE ALL ON FUNCTION delete_ended_sessions(integer) FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION delete_ended_sessions(integer) TO glovebox_data;`;

/** The console: people, their sessions, and the reason of what they reveal. */
export class AddPeopleAndSessions0000000000008 implements Migration {
  readonly kind = 'expand';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits('tenants', 'audit_log'));
    for (const statement of [people, codes, sessions, lookUps, signIns, deleteEnded]) {
      await queryRunner.query(statement);
    }
    // Last, since writers of the log wait for it.
    await queryRunner.query('ALTER TABLE audit_log ADD COLUMN reason text');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits('tenants', 'audit_log'));
    await queryRunner.query(`
      ALTER TABLE audit_log DROP COLUMN reason;
      DROP FUNCTION delete_ended_sessions(integer), tenant_of_console_code(text),
        console_session(text);
      DROP TABLE console_sign_ins, console_sessions, console_codes, people;
    `);
  }
}
