import type { QueryRunner } from 'typeorm';
import { asOwner, ofOneTenant } from './0001-schema/subject';
import type { Migration } from './migration';

const captures = `
  CREATE TABLE captures (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    proxy_id uuid NOT NULL,
    trace_id text NOT NULL,
    method text NOT NULL,
    status integer,
    code text,
    is_whole boolean NOT NULL,
    messages bytea NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
  );
  -- Sealed text cannot be compressed.
  ALTER TABLE captures ALTER COLUMN messages SET STORAGE EXTERNAL;
  CREATE INDEX captures_oldest ON captures (created_at);
  GRANT SELECT, DELETE ON captures TO glovebox_management;
  ${ofOneTenant('captures')}`;

/**
 * Adds one and drops the oldest of its tenant that are too many, or too large together. Gateways add
 * those of a tenant one after the other, so that each counts what is there.
 */
const keepCapture = `
  CREATE FUNCTION keep_capture(tenant uuid, capture uuid, proxy uuid, trace text, verb text,
    answered integer, problem text, has_texts boolean, sealed bytea, rows_max integer,
    bytes_max bigint) RETURNS void
  LANGUAGE plpgsql ${asOwner} AS $$
  BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('captures ' || tenant, 0));
    INSERT INTO captures (tenant_id, id, proxy_id, trace_id, method, status, code, is_whole, messages)
    VALUES (tenant, capture, proxy, trace, verb, answered, problem, has_texts, sealed);
    DELETE FROM captures WHERE tenant_id = tenant AND id IN (
      SELECT id FROM (
        SELECT id, row_number() OVER newest AS nth,
          sum(octet_length(messages)) OVER newest AS so_far
        FROM captures WHERE tenant_id = tenant WINDOW newest AS (ORDER BY id DESC)
      ) sized WHERE nth > rows_max OR so_far > bytes_max);
  END
  $$;
  REVOKE ALL ON FUNCTION keep_capture(uuid, uuid, uuid, text, text, integer, text, boolean, bytea,
    integer, bigint) FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION keep_capture(uuid, uuid, uuid, text, text, integer, text, boolean, bytea,
    integer, bigint) TO glovebox_data;`;

/** Those whose day is over, and those of deleted tenants, which nothing opens any more. */
const deleteOldCaptures = `
  CREATE FUNCTION delete_old_captures(rows_max integer) RETURNS bigint
  LANGUAGE sql ${asOwner} AS $$
    WITH old AS (
      DELETE FROM captures WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM captures WHERE created_at <= now() - interval '24 hours'
        ORDER BY created_at LIMIT rows_max FOR UPDATE SKIP LOCKED)) RETURNING 1
    ), remains AS (
      DELETE FROM captures WHERE ctid = ANY (ARRAY(
        SELECT r.ctid FROM definition_log gone, LATERAL (
          SELECT ctid FROM captures
          WHERE tenant_id = gone.id AND created_at > now() - interval '24 hours' LIMIT rows_max) r
        WHERE gone.kind = 'tenant' AND gone.payload IS NULL LIMIT rows_max)) RETURNING 1
    )
    SELECT (SELECT count(*) FROM old) + (SELECT count(*) FROM remains)
  $$;
  REVOKE ALL ON FUNCTION delete_old_captures(integer) FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION delete_old_captures(integer) TO glovebox_data;`;

/** Messages of proxies, sealed, for a day. */
export class CaptureCalls0000000000011 implements Migration {
  readonly kind = 'expand';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`${captures} ${keepCapture} ${deleteOldCaptures}`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP FUNCTION delete_old_captures(integer), keep_capture(uuid, uuid, uuid, text, text, integer,
        text, boolean, bytea, integer, bigint);
      DROP TABLE captures
    `);
  }
}
