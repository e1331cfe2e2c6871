import type { QueryRunner } from 'typeorm';
import { asOwner } from './0001-schema/subject';
import { buildIndex, shortWaits, withoutLongWaits } from './build-index';
import type { Migration } from './migration';

const tables = ['code_texts', 'reactor_formulas'];

/** `held_until`: it was uploaded, and stays for that long without a reference. `map` is sealed. */
const columns = [
  `ALTER TABLE code_texts
     ADD COLUMN IF NOT EXISTS held_until timestamptz(3),
     ADD COLUMN IF NOT EXISTS map bytea`,
  // Sealed text cannot be compressed.
  'ALTER TABLE code_texts ALTER COLUMN map SET STORAGE EXTERNAL',
  'ALTER TABLE reactor_formulas ADD COLUMN IF NOT EXISTS code_sha256 text',
];

/** The data plane reads texts. It never sees a source map. */
const forDataPlane = [
  'GRANT SELECT (tenant_id, id, text) ON code_texts TO glovebox_data',
  'DROP POLICY IF EXISTS data_plane ON code_texts',
  'CREATE POLICY data_plane ON code_texts FOR SELECT TO glovebox_data USING (true)',
];

const bundleOf = (side: string): string => `left(${side}_transform ->> 'code_sha256', 32)`;

/** Finds the resources that a bundle is in force in, by half of its hash. */
const indexes = [
  ['reactor_formulas_bundle', 'reactor_formulas', 'left(code_sha256, 32)'],
  ['proxies_request_bundle', 'proxies', bundleOf('request')],
  ['proxies_response_bundle', 'proxies', bundleOf('response')],
] as const;

const refers = (table: string, bundle: string): string =>
  `EXISTS (SELECT FROM ${table} r WHERE r.tenant_id = owner_id
     AND ${bundle} = replace(text_id::text, '-', ''))`;

const isHeld = `
  CREATE OR REPLACE FUNCTION is_code_held(owner_id uuid, text_id uuid) RETURNS boolean
  LANGUAGE sql STABLE AS $$
    SELECT ${indexes.map(([, table, bundle]) => refers(table, bundle)).join('\n      OR ')}
      OR EXISTS (SELECT FROM deployments d WHERE d.tenant_id = owner_id AND text_id = ANY (d.code_ids))
  $$`;

/** Whoever deletes texts, of whichever release: what is in force can always be read. */
const spareHeld = [
  `CREATE OR REPLACE FUNCTION spare_held_code() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     IF OLD.held_until > now() OR is_code_held(OLD.tenant_id, OLD.id) THEN RETURN NULL; END IF;
     RETURN OLD;
   END $$`,
  'DROP TRIGGER IF EXISTS spare_held ON code_texts',
  `CREATE TRIGGER spare_held BEFORE DELETE ON code_texts
   FOR EACH ROW EXECUTE FUNCTION spare_held_code()`,
];

const deleteCodeTexts = (spared: string): string => `
  CREATE OR REPLACE FUNCTION delete_code_texts(runs_kept_days integer, rows_max integer)
  RETURNS bigint LANGUAGE sql ${asOwner} AS $$
    WITH old AS (
      DELETE FROM code_texts WHERE ctid = ANY (ARRAY(
        SELECT c.ctid FROM code_texts c
        WHERE last_in_force_at < now() - make_interval(days => greatest(runs_kept_days, 1) + 2)
          ${spared}
        ORDER BY last_in_force_at LIMIT rows_max FOR UPDATE SKIP LOCKED)) RETURNING 1
    ), remains AS (
      DELETE FROM code_texts WHERE ctid = ANY (ARRAY(
        SELECT r.ctid FROM definition_log gone, LATERAL (
          SELECT ctid FROM code_texts WHERE tenant_id = gone.id LIMIT rows_max) r
        WHERE gone.kind = 'tenant' AND gone.payload IS NULL LIMIT rows_max)) RETURNING 1
    )
    SELECT (SELECT count(*) FROM old) + (SELECT count(*) FROM remains)
  $$`;

const spared = `AND (c.held_until IS NULL OR c.held_until < now())
          AND NOT is_code_held(c.tenant_id, c.id)`;
const sparedBefore = `AND NOT EXISTS (
            SELECT FROM deployments d WHERE d.tenant_id = c.tenant_id AND c.id = ANY (d.code_ids))`;

/** Texts that definitions name by their hash, and the maps of their sources. */
export class KeepBundles0000000000016 implements Migration {
  readonly kind = 'expand';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await withoutLongWaits(queryRunner, tables, columns);
    for (const [name, table, bundle] of indexes) {
      const definition = `${table} (tenant_id, (${bundle})) WHERE ${bundle} IS NOT NULL`;
      await buildIndex(queryRunner, name, definition);
    }
    const functions = [isHeld, ...spareHeld, deleteCodeTexts(spared), ...forDataPlane];
    await withoutLongWaits(queryRunner, ['code_texts'], functions);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits(...tables, 'proxies'));
    await queryRunner.query(`
      ${deleteCodeTexts(sparedBefore)};
      DROP TRIGGER spare_held ON code_texts;
      DROP FUNCTION spare_held_code();
      DROP FUNCTION is_code_held(uuid, uuid);
      DROP POLICY data_plane ON code_texts;
      REVOKE SELECT (tenant_id, id, text) ON code_texts FROM glovebox_data;
      DROP INDEX proxies_request_bundle, proxies_response_bundle, reactor_formulas_bundle;
      ALTER TABLE reactor_formulas DROP COLUMN code_sha256;
      ALTER TABLE code_texts DROP COLUMN held_until, DROP COLUMN map;
    `);
  }
}
