import type { QueryRunner } from 'typeorm';
import { buildIndex, shortWaits, withoutLongWaits } from './build-index';
import type { Migration } from './migration';

const tables = ['applications', 'reactor_formulas', 'reactors', 'proxies'];

/** Names of resources that do not change when their ids do: those of their files. */
export class AddSlugs0000000000014 implements Migration {
  readonly kind = 'expand';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    const added = tables.map((table) => `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS slug text`);
    await withoutLongWaits(queryRunner, tables, added);
    for (const table of tables) {
      const definition = `${table} (tenant_id, slug) WHERE slug IS NOT NULL`;
      await buildIndex(queryRunner, `${table}_slug_unique`, definition, { unique: true });
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits(...tables));
    for (const table of tables) await queryRunner.query(`ALTER TABLE ${table} DROP COLUMN slug`);
  }
}
