import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex } from './build-index';

/** Gives a webhook that is under way one of the places of its receiver. */
export class GiveWebhooksPlaces0000000000038 implements MigrationInterface {
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE webhook_deliveries
        ADD COLUMN IF NOT EXISTS place smallint,
        ADD COLUMN IF NOT EXISTS place_until timestamptz`);
    await buildIndex(
      queryRunner,
      'webhook_deliveries_places',
      `webhook_deliveries (tenant_id, coalesce(receiver, tenant_id::text), place)
       WHERE place IS NOT NULL`,
      { unique: true },
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX webhook_deliveries_places;
      ALTER TABLE webhook_deliveries DROP COLUMN place_until, DROP COLUMN place`);
  }
}
