import type { QueryRunner } from 'typeorm';
import { asOwner } from './0001-schema/subject';
import { shortWaits } from './build-index';
import type { Migration } from './migration';

/** Of no tenant until somebody decides: command lines that wait to be signed in. */
const machines = `
  CREATE TABLE console_machines (
    device_hash text PRIMARY KEY,
    code_hash text NOT NULL CONSTRAINT console_machines_code_unique UNIQUE,
    machine text NOT NULL,
    network text NOT NULL,
    begun_at timestamptz(3) NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    is_refused boolean NOT NULL DEFAULT false,
    tenant_id uuid,
    person_id uuid CONSTRAINT console_machines_person_fk REFERENCES people ON DELETE CASCADE
  );
  CREATE INDEX console_machines_of_person ON console_machines (person_id);
  CREATE INDEX console_machines_oldest ON console_machines (expires_at);
  GRANT SELECT, INSERT, UPDATE, DELETE ON console_machines TO glovebox_management;
  ALTER TABLE console_machines ENABLE ROW LEVEL SECURITY;
  CREATE POLICY begun ON console_machines TO glovebox_management USING (true) WITH CHECK (true);`;

const notTooOld = `s.created_at > now() - interval '12 hours'`;
const notSilent = `s.seen_at > now() - interval '30 minutes'`;

const lookUp = (isLive: string): string => `
  CREATE OR REPLACE FUNCTION console_session(hash text, OUT session_id uuid, OUT tenant_id uuid,
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
  $$;`;

/** The tables whose rows end at `expires_at`. */
const deleteEnded = (isOfPage: string, tables: readonly string[]): string => `
  CREATE OR REPLACE FUNCTION delete_ended_sessions(rows_max integer) RETURNS bigint
  LANGUAGE sql ${asOwner} AS $$
    WITH sessions AS (
      DELETE FROM console_sessions WHERE ctid = ANY (
        ARRAY(SELECT ctid FROM console_sessions
          WHERE seen_at <= now() - interval '30 minutes' AND ${isOfPage}
          ORDER BY seen_at LIMIT rows_max FOR UPDATE SKIP LOCKED)
        || ARRAY(SELECT ctid FROM console_sessions WHERE created_at <= now() - interval '12 hours'
          ORDER BY created_at LIMIT rows_max FOR UPDATE SKIP LOCKED)) RETURNING 1
    )${tables
      .map(
        (table) => `, ended_${table} AS (
      DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${table} WHERE expires_at <= now() ORDER BY expires_at LIMIT rows_max
        FOR UPDATE SKIP LOCKED)) RETURNING 1
    )`,
      )
      .join('')}
    SELECT (SELECT count(*) FROM sessions)${tables
      .map((table) => ` + (SELECT count(*) FROM ended_${table})`)
      .join('')}
  $$;`;

const before = ['console_codes', 'console_sign_ins'];

/** Sessions of the command line: they have the name of their machine, and do not end by silence. */
export class SignInMachines0000000000019 implements Migration {
  readonly kind = 'expand';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits('console_sessions', 'people'));
    await queryRunner.query(machines);
    await queryRunner.query('ALTER TABLE console_sessions ADD COLUMN machine text');
    const isLive = `(s.machine IS NOT NULL OR ${notSilent}) AND ${notTooOld}`;
    await queryRunner.query(lookUp(isLive));
    await queryRunner.query(deleteEnded('machine IS NULL', [...before, 'console_machines']));
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits('console_sessions', 'people'));
    await queryRunner.query(deleteEnded('true', before));
    await queryRunner.query(lookUp(`${notSilent} AND ${notTooOld}`));
    await queryRunner.query('ALTER TABLE console_sessions DROP COLUMN machine');
    await queryRunner.query('DROP TABLE console_machines');
  }
}
