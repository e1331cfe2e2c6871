import type { MigrationInterface, QueryRunner } from 'typeorm';

const columns = `tenant_id, at, actor_id, operation, entity_type, entity_id, outcome, trace_id,
  token_ids, destination_host`;

/** Makes the audit log a table with a partition for each month. The old table is the first one. */
export class PartitionAuditLog0000000000036 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // Every use of data writes a line and would wait behind this lock.
    await queryRunner.query(`SET LOCAL lock_timeout = '2s'`);
    await queryRunner.query('LOCK TABLE audit_log IN ACCESS EXCLUSIVE MODE');
    const [found] = (await queryRunner.query(`
      SELECT conname AS first, right(conname, 8) AS ends,
        (SELECT coalesce(max(id), 0) + 1 FROM audit_log) AS next
      FROM pg_constraint
      WHERE conrelid = 'audit_log'::regclass AND conname LIKE 'audit_log_until_%' AND convalidated
    `)) as { first: string; ends: string; next: string }[];
    if (!found) throw new Error('The audit log has no bound: revert one migration, then migrate.');
    const { first, ends, next } = found;
    await queryRunner.query(`
      ALTER TABLE audit_log RENAME TO ${first};
      ALTER TABLE ${first} ALTER COLUMN id DROP IDENTITY;
      ALTER INDEX audit_log_newest RENAME TO ${first}_newest;
      ALTER INDEX audit_log_of_entity RENAME TO ${first}_of_entity;
      DROP POLICY tenant ON ${first};
      DROP POLICY data_plane ON ${first};
      REVOKE ALL ON ${first} FROM glovebox_management, glovebox_data`);
    await createAuditLog(queryRunner, { partitioned: true, next });
    await queryRunner.query(`
      ALTER TABLE audit_log ATTACH PARTITION ${first}
        FOR VALUES FROM (MINVALUE) TO ('${ends} 00:00:00+00');
      ALTER TABLE ${first} DROP CONSTRAINT ${first};
      CREATE TABLE audit_log_default PARTITION OF audit_log DEFAULT;
      ALTER TABLE audit_log_default ENABLE ROW LEVEL SECURITY;
      SELECT make_partitions()`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    const [{ next }] = (await queryRunner.query(
      'SELECT coalesce(max(id), 0) + 1 AS next FROM audit_log',
    )) as [{ next: string }];
    await queryRunner.query(`
      ALTER TABLE audit_log RENAME TO audit_log_by_month;
      ALTER INDEX audit_log_newest RENAME TO audit_log_by_month_newest;
      ALTER INDEX audit_log_of_entity RENAME TO audit_log_by_month_of_entity`);
    await createAuditLog(queryRunner, { partitioned: false, next });
    await queryRunner.query(`
      INSERT INTO audit_log (id, ${columns}) OVERRIDING SYSTEM VALUE
        SELECT id, ${columns} FROM audit_log_by_month;
      DROP TABLE audit_log_by_month;
      ALTER TABLE audit_log ADD PRIMARY KEY (id)`);
  }
}

async function createAuditLog(
  queryRunner: QueryRunner,
  { partitioned, next }: { partitioned: boolean; next: string },
): Promise<void> {
  // Lines are found by tenant and time, and an id alone is never looked up.
  await queryRunner.query(`
    CREATE TABLE audit_log (
      id bigint GENERATED ALWAYS AS IDENTITY (START WITH ${next}),
      tenant_id uuid NOT NULL,
      at timestamptz(3) NOT NULL DEFAULT now(),
      actor_id uuid,
      operation text NOT NULL,
      entity_type text NOT NULL,
      entity_id text NOT NULL,
      outcome text NOT NULL,
      trace_id text NOT NULL,
      token_ids text[],
      destination_host text
    ) ${partitioned ? 'PARTITION BY RANGE (at)' : ''};
    CREATE INDEX audit_log_newest ON audit_log (tenant_id, at DESC, id DESC)
      INCLUDE (entity_type, operation);
    CREATE INDEX audit_log_of_entity ON audit_log (tenant_id, entity_id, at DESC, id DESC)
      INCLUDE (entity_type, operation);
    GRANT SELECT, INSERT ON audit_log TO glovebox_management;
    GRANT INSERT ON audit_log TO glovebox_data;
    ALTER TABLE audit_log ENABLE ROW LEVEL SECURITY;
    CREATE POLICY tenant ON audit_log TO glovebox_management
      USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());
    CREATE POLICY data_plane ON audit_log TO glovebox_data USING (true) WITH CHECK (true)`);
}
