import type { QueryRunner } from 'typeorm';
import { shortWaits } from './build-index';
import type { Migration } from './migration';

/** The requests of forward mode that a proxy handles. A constant default writes no row again. */
export class MatchRequests0000000000024 implements Migration {
  readonly kind = 'expand';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits('proxies'));
    await queryRunner.query(`
      ALTER TABLE proxies ADD COLUMN match jsonb;
      ALTER TABLE proxies ADD COLUMN match_keys text[] NOT NULL DEFAULT '{}';
      ALTER TABLE proxies ADD COLUMN forward_to text;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits('proxies'));
    await queryRunner.query(`
      ALTER TABLE proxies DROP COLUMN forward_to;
      ALTER TABLE proxies DROP COLUMN match_keys;
      ALTER TABLE proxies DROP COLUMN match;
    `);
  }
}
