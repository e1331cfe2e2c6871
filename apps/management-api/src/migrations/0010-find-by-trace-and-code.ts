import type { QueryRunner } from 'typeorm';
import { buildLogIndex, shortWaits } from './build-index';
import type { Migration } from './migration';

/** Indexes of the logs, for the filters of the same name. */
export class FindByTraceAndCode0000000000010 implements Migration {
  readonly kind = 'expand';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await buildLogIndex(
      queryRunner,
      'audit_log',
      'audit_log_of_trace',
      '(tenant_id, trace_id, at DESC, id DESC)',
    );
    await buildLogIndex(
      queryRunner,
      'calls',
      'calls_of_code',
      '(tenant_id, code, id) WHERE code IS NOT NULL',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shortWaits('audit_log', 'calls'));
    await queryRunner.query('DROP INDEX audit_log_of_trace, calls_of_code');
  }
}
