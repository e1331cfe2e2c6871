import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Pages of the log are counted and found in the index alone. Each use of data writes a line, so
 * there are only two indexes. Columns with few distinct values are filtered inside them.
 */
export class IndexAuditLog0000000000005 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX audit_log_newest;
      CREATE INDEX audit_log_newest ON audit_log (tenant_id, at DESC, id DESC)
        INCLUDE (entity_type, operation);
      CREATE INDEX audit_log_of_entity ON audit_log (tenant_id, entity_id, at DESC, id DESC)
        INCLUDE (entity_type, operation)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX audit_log_of_entity, audit_log_newest;
      CREATE INDEX audit_log_newest ON audit_log (tenant_id, id DESC)`);
  }
}
