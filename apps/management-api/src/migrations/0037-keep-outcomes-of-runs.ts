import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex } from './build-index';

/** Lets the data plane keep the outcomes of runs beside those of the management API. */
export class KeepOutcomesOfRuns0000000000037 implements MigrationInterface {
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    // Null in the rows of the management API, which the data plane never sees.
    await queryRunner.query(
      'ALTER TABLE idempotency_keys ADD COLUMN IF NOT EXISTS run_bytes integer',
    );
    await buildIndex(
      queryRunner,
      'idempotency_keys_of_runs',
      'idempotency_keys (tenant_id) INCLUDE (run_bytes) WHERE run_bytes IS NOT NULL',
    );
    await queryRunner.query(`
      DROP POLICY IF EXISTS runs ON idempotency_keys;
      CREATE POLICY runs ON idempotency_keys TO glovebox_data
        USING (run_bytes IS NOT NULL) WITH CHECK (run_bytes IS NOT NULL);
      GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_keys TO glovebox_data`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      REVOKE ALL ON idempotency_keys FROM glovebox_data;
      DROP POLICY runs ON idempotency_keys;
      DROP INDEX idempotency_keys_of_runs;
      ALTER TABLE idempotency_keys DROP COLUMN run_bytes`);
  }
}
