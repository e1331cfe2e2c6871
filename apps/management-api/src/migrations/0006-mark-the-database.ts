import type { QueryRunner } from 'typeorm';
import { asOwner } from './0001-schema/subject';
import { buildIndex, shortWaits, withoutLongWaits } from './build-index';
import type { Migration } from './migration';

/**
 * The database that answers: system identifier and oid, and its timeline. Where Postgres refuses to
 * tell, the oid is all there is: docs/backup.md.
 */
const thisDatabase = `
  CREATE OR REPLACE FUNCTION this_database(OUT place text, OUT timeline integer)
  LANGUAGE plpgsql ${asOwner} AS $$
  BEGIN
    place := 'unknown';
    timeline := 0;
    BEGIN
      place := (SELECT system_identifier FROM pg_control_system());
      -- The control file tells a new timeline only after the first checkpoint in it.
      timeline := CASE WHEN pg_is_in_recovery()
        THEN (SELECT timeline_id FROM pg_control_checkpoint())
        ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer END;
    EXCEPTION WHEN insufficient_privilege OR feature_not_supported OR undefined_function
      OR object_not_in_prerequisite_state THEN NULL;
    END;
    place := place || '/' || (SELECT oid FROM pg_database WHERE datname = current_database());
  END $$;
  REVOKE ALL ON FUNCTION this_database() FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION this_database()
    TO glovebox_management, glovebox_data, glovebox_rotation;`;

/** Null in a column would be a database that was never marked: it is known to be none. */
const known = `
  CREATE OR REPLACE FUNCTION database_is_known() RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (h.place, h.timeline) IS NOT DISTINCT FROM (d.place, d.timeline)
    FROM definition_head h, this_database() d $$;
  CREATE OR REPLACE FUNCTION queues_are_open() RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT database_is_known() AND NOT holds FROM definition_head $$;
  REVOKE ALL ON FUNCTION database_is_known(), queues_are_open() FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION database_is_known()
    TO glovebox_management, glovebox_data, glovebox_rotation;
  GRANT EXECUTE ON FUNCTION queues_are_open() TO glovebox_data;`;

/**
 * Else a head that lost versions could pass the one that processes have seen, before they look. The
 * owner ends keys before a database is accepted.
 */
const refuseWrites = `
  CREATE OR REPLACE FUNCTION refuse_unknown_database() RETURNS trigger LANGUAGE plpgsql
  ${asOwner} AS $$
  BEGIN
    IF session_user = 'glovebox_owner' OR database_is_known() THEN RETURN NEW; END IF;
    RAISE EXCEPTION 'This database was restored or promoted, and is not accepted yet'
      USING ERRCODE = '08004';
  END $$;
  REVOKE ALL ON FUNCTION refuse_unknown_database() FROM PUBLIC;
  CREATE OR REPLACE TRIGGER known BEFORE UPDATE OF version ON definition_head
    FOR EACH ROW EXECUTE FUNCTION refuse_unknown_database();`;

/**
 * Processes call this with the newest that they saw of an epoch. A new timeline of the database gets
 * a new epoch. Where it lacks what was seen, the queues hold what they have.
 */
const followPromotion = `
  CREATE OR REPLACE FUNCTION follow_promotion(
    known_epoch uuid, known_version bigint, known_pulse bigint)
  RETURNS void LANGUAGE plpgsql ${asOwner} AS $$
  DECLARE
    head definition_head;
    here record;
    pulse_here bigint;
    is_lost boolean;
  BEGIN
    SELECT * INTO head FROM definition_head FOR UPDATE;
    here := this_database();
    IF pg_is_in_recovery() OR here.place IS DISTINCT FROM head.place THEN RETURN; END IF;
    UPDATE definition_epochs SET lost = true
    WHERE epoch = known_epoch AND (version < known_version OR pulse < known_pulse) AND NOT lost;
    IF FOUND THEN
      UPDATE definition_head SET holds = true;
    ELSIF head.epoch = known_epoch AND here.timeline > head.timeline THEN
      pulse_here := (SELECT pulse FROM database_pulse);
      is_lost := head.version < known_version OR pulse_here < known_pulse;
      INSERT INTO definition_epochs (epoch, version, pulse, lost)
      VALUES (head.epoch, head.version, pulse_here, is_lost);
      UPDATE definition_head SET epoch = gen_random_uuid(), timeline = here.timeline,
        holds = holds OR is_lost;
    END IF;
  END $$;
  CREATE OR REPLACE FUNCTION end_hold() RETURNS void LANGUAGE sql ${asOwner} AS $$
    UPDATE definition_head SET holds = false WHERE holds $$;
  REVOKE ALL ON FUNCTION follow_promotion(uuid, bigint, bigint), end_hold() FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION follow_promotion(uuid, bigint, bigint)
    TO glovebox_management, glovebox_data;
  GRANT EXECUTE ON FUNCTION end_hold() TO glovebox_data;`;

/** A row for each epoch that ended, with what there was at its end. */
const epochs = `
  CREATE TABLE IF NOT EXISTS definition_epochs (
    epoch uuid PRIMARY KEY,
    version bigint NOT NULL,
    pulse bigint NOT NULL,
    lost boolean NOT NULL,
    ended_at timestamptz NOT NULL DEFAULT now()
  );
  GRANT SELECT ON definition_epochs TO glovebox_management, glovebox_data;`;

/**
 * Workers raise it once a second, all together, also after the clock was put back. In the head it
 * would wait for definitions.
 */
const pulse = `
  CREATE TABLE IF NOT EXISTS database_pulse (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    pulse bigint NOT NULL DEFAULT 0,
    raised_at timestamptz NOT NULL DEFAULT 'epoch'
  );
  INSERT INTO database_pulse DEFAULT VALUES ON CONFLICT DO NOTHING;
  GRANT SELECT ON database_pulse TO glovebox_management, glovebox_data, glovebox_rotation;
  CREATE OR REPLACE FUNCTION raise_pulse() RETURNS void LANGUAGE sql ${asOwner} AS $$
    UPDATE database_pulse SET pulse = pulse + 1, raised_at = now()
    WHERE raised_at NOT BETWEEN now() - interval '900 milliseconds' AND now() + interval '1 second'
      AND (SELECT database_is_known()) $$;
  REVOKE ALL ON FUNCTION raise_pulse() FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION raise_pulse() TO glovebox_data;`;

const queues = [
  { table: 'reactor_runs', statuses: ['pending', 'running', 'completed', 'failed'] },
  { table: 'webhook_deliveries', statuses: ['pending', 'delivered', 'failed'] },
];

const listed = (statuses: readonly string[]): string =>
  statuses.map((status) => `'${status}'`).join(', ');

/** Looks at no row, since the table is locked. */
const allowStatuses = (table: string, statuses: readonly string[]): string =>
  `ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS ${table}_status_check,
     ADD CONSTRAINT ${table}_status_check CHECK (status IN (${listed(statuses)})) NOT VALID`;

/** Each step may be repeated. */
export class MarkTheDatabase0000000000006 implements Migration {
  readonly kind = 'expand';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await withoutLongWaits(
      queryRunner,
      ['definition_head'],
      [
        `ALTER TABLE definition_head
         ADD COLUMN IF NOT EXISTS installation uuid,
         ADD COLUMN IF NOT EXISTS place text,
         ADD COLUMN IF NOT EXISTS timeline integer,
         ADD COLUMN IF NOT EXISTS holds boolean NOT NULL DEFAULT false`,
        `UPDATE definition_head SET installation = gen_random_uuid() WHERE installation IS NULL`,
        `ALTER TABLE definition_head ALTER COLUMN installation SET NOT NULL,
         ALTER COLUMN installation SET DEFAULT gen_random_uuid()`,
        thisDatabase,
        known,
        epochs,
        pulse,
        followPromotion,
        `UPDATE definition_head SET (place, timeline) = (SELECT place, timeline FROM this_database())
       WHERE place IS NULL`,
        refuseWrites,
      ],
    );
    for (const { table, statuses } of queues) {
      await withoutLongWaits(queryRunner, [table], [allowStatuses(table, [...statuses, 'held'])]);
      await queryRunner.query(`ALTER TABLE ${table} VALIDATE CONSTRAINT ${table}_status_check`);
      await buildIndex(
        queryRunner,
        `${table}_held`,
        `${table} (tenant_id, id) WHERE status = 'held'`,
      );
    }
  }

  /** In one transaction, as every way down. */
  async down(queryRunner: QueryRunner): Promise<void> {
    const changed = [...queues.map(({ table }) => table), 'definition_head'];
    await queryRunner.query(shortWaits(...changed, 'definition_epochs', 'database_pulse'));
    await refuseWithHeldRows(queryRunner);
    for (const { table, statuses } of queues) {
      await queryRunner.query(`DROP INDEX ${table}_held`);
      await queryRunner.query(allowStatuses(table, statuses));
    }
    await queryRunner.query(`
      DROP TRIGGER known ON definition_head;
      DROP FUNCTION refuse_unknown_database(), end_hold(), follow_promotion(uuid, bigint, bigint),
        raise_pulse(), queues_are_open(), database_is_known(), this_database();
      DROP TABLE definition_epochs, database_pulse;
      ALTER TABLE definition_head DROP COLUMN installation, DROP COLUMN place,
        DROP COLUMN timeline, DROP COLUMN holds;
    `);
  }
}

/** The code before this migration would never find them. */
async function refuseWithHeldRows(queryRunner: QueryRunner): Promise<void> {
  for (const { table } of queues) {
    const held = (await queryRunner.query(
      `SELECT FROM ${table} WHERE status = 'held' LIMIT 1`,
    )) as unknown[];
    if (held.length > 0) {
      throw new Error(
        'Nothing was changed: runs or webhooks are held. Release or fail them first: npm run after-restore -- --help',
      );
    }
  }
}
