import { Problem } from '@glovebox/problems';
import type { Sql } from './database';
import { driverErrorOf } from './driver-error';

/** One line of the audit log: who did what to which thing. It never holds a value. */
interface AuditRecord {
  readonly tenantId: string;
  readonly actorId: string | null;
  readonly operation: string;
  readonly entityType: string;
  readonly entityId: string;
  readonly outcome: 'success' | 'refused';
  readonly traceId: string;
  readonly destinationHost?: string;
  /** In the words of the person who did it. */
  readonly reason?: string;
}

/** Writes a line in the transaction of the change that it records. */
export function record(sql: Sql, { entityId, ...line }: AuditRecord): Promise<void> {
  return recordEach(sql, line, [entityId]);
}

/** Writes a line for each of several things that the same was done to. */
export async function recordEach(
  sql: Sql,
  line: Omit<AuditRecord, 'entityId'>,
  entityIds: readonly string[],
): Promise<void> {
  const written = sql.query(
    `INSERT INTO audit_log 
       (tenant_id, actor_id, operation, entity_type, entity_id, outcome, trace_id, destination_host, reason)
     SELECT $1, $2, $3, $4, entity_id, $6, $7, $8, $9 FROM unnest($5::text[]) AS entity_id`,
    [
      line.tenantId,
      line.actorId,
      line.operation,
      line.entityType,
      entityIds,
      line.outcome,
      line.traceId,
      line.destinationHost ?? null,
      line.reason ?? null,
    ],
  );
  await orAuditUnavailable(written);
}

/** SQLSTATEs: a right or a table is missing, the table is read-only, the disk fails. */
const unwritable = /^(?:42501|42P01|25006|58...)$/;

/**
 * Treats an audit log that cannot be written as an outage, whatever keeps it from being written.
 */
export async function orAuditUnavailable<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!unwritable.test(driverErrorOf(error).code ?? '')) throw error;
    throw new Problem('service_unavailable', { retryAfterSeconds: 1, cause: error });
  }
}
