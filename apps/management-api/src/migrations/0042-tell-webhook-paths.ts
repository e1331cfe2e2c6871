import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex } from './build-index';

/**
 * Tells the paths of a receiver apart, and keeps those whose last attempt failed. Finds the first
 * attempts by path, and lets the management API make a webhook that waits due at once.
 */
export class TellWebhookPaths0000000000042 implements MigrationInterface {
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE webhook_deliveries ADD COLUMN IF NOT EXISTS path text');
    await queryRunner.query('ALTER TABLE ended_deliveries ADD COLUMN IF NOT EXISTS path text');
    await buildIndex(
      queryRunner,
      'webhook_deliveries_of_path',
      `webhook_deliveries (tenant_id, coalesce(receiver, tenant_id::text),
         (coalesce(path, receiver, tenant_id::text) COLLATE "C"), next_attempt_at)
       WHERE status = 'pending' AND attempts = 0`,
    );
    await queryRunner.query(`
      CREATE TABLE IF NOT EXISTS failing_webhook_paths (
        tenant_id uuid NOT NULL,
        path text COLLATE "C" NOT NULL,
        failed_at timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, path)
      );
      CREATE INDEX IF NOT EXISTS failing_webhook_paths_oldest ON failing_webhook_paths (failed_at);
      GRANT SELECT, INSERT, UPDATE, DELETE ON failing_webhook_paths TO glovebox_data;
      ALTER TABLE failing_webhook_paths ENABLE ROW LEVEL SECURITY;
      DROP POLICY IF EXISTS data_plane ON failing_webhook_paths;
      CREATE POLICY data_plane ON failing_webhook_paths TO glovebox_data
        USING (true) WITH CHECK (true);
      GRANT UPDATE (attempts, unsent_tries, next_attempt_at) ON webhook_deliveries
        TO glovebox_management`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      REVOKE UPDATE (attempts, unsent_tries, next_attempt_at) ON webhook_deliveries
        FROM glovebox_management;
      DROP TABLE failing_webhook_paths;
      DROP INDEX webhook_deliveries_of_path;
      ALTER TABLE ended_deliveries DROP COLUMN path;
      ALTER TABLE webhook_deliveries DROP COLUMN path`);
  }
}
