import type { Sql } from './database';

/** One line of the audit log: who did what to which thing. Never a value. */
export interface AuditRecord {
  readonly tenantId: string;
  readonly actorId: string | null;
  readonly operation: string;
  readonly entityType: string;
  readonly entityId: string;
  readonly outcome: 'success' | 'refused' | 'failed';
  readonly traceId: string;
}

/** Written in the transaction of what it records. */
export async function record(sql: Sql, line: AuditRecord): Promise<void> {
  await sql.query(
    `INSERT INTO audit_log (tenant_id, actor_id, operation, entity_type, entity_id, outcome, trace_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      line.tenantId,
      line.actorId,
      line.operation,
      line.entityType,
      line.entityId,
      line.outcome,
      line.traceId,
    ],
  );
}
