import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Proves that every line of the audit log is from before some coming month, while lines are
 * written. The next migration can then make the table a partition without reading it.
 */
export class BoundAuditLog0000000000035 implements MigrationInterface {
  // A validation in a transaction of its own lets writers go on.
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await this.down(queryRunner);
    // At least three weeks ahead: the next migration has to come before.
    const [{ name, ends }] = (await queryRunner.query(`
      SELECT to_char(ends, '"audit_log_until_"YYYYMMDD') AS name, ends || '+00' AS ends FROM (
        SELECT date_trunc('month', now() AT TIME ZONE 'UTC' + interval '1 month 21 days') AS ends
      ) bound`)) as [{ name: string; ends: string }];
    await queryRunner.query(`SET lock_timeout = '2s'`);
    try {
      await queryRunner.query(
        `ALTER TABLE audit_log ADD CONSTRAINT ${name} CHECK (at < '${ends}') NOT VALID`,
      );
      await queryRunner.query(`ALTER TABLE audit_log VALIDATE CONSTRAINT ${name}`);
    } finally {
      await queryRunner.query('RESET lock_timeout');
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    const constraints = (await queryRunner.query(
      `SELECT conname AS name FROM pg_constraint
       WHERE conrelid = 'audit_log'::regclass AND conname LIKE 'audit_log_until_%'`,
    )) as { name: string }[];
    for (const { name } of constraints) {
      await queryRunner.query(`ALTER TABLE audit_log DROP CONSTRAINT ${name}`);
    }
  }
}
