import type { PageQuery } from '@glovebox/database';
import { invalid } from '@glovebox/problems';
import { queryReadBy } from '../http/request';
import { QueryFilters } from '../lists/query-filters';
import { readPage } from '../lists/listing';
import { traceIdMax } from '../runs/runs.dto';
import { isUuid } from '../validation/uuid';

/** Selects lines of the audit log. Both dates are inclusive. */
export interface LogQuery extends PageQuery {
  readonly entityType: string | undefined;
  readonly entityId: string | undefined;
  readonly operation: string | undefined;
  readonly traceId: string | undefined;
  readonly startDate: Date | undefined;
  readonly endDate: Date | undefined;
}

export interface LineActor {
  type: 'person' | 'application';
  id: string;
  name?: string;
}

export interface AuditLine {
  id: string;
  actor_id?: string;
  actor?: LineActor;
  operation: string;
  entity_type: string;
  entity_id: string;
  outcome: string;
  trace_id: string;
  token_ids?: string[];
  destination_host?: string;
  reason?: string;
  created_at: string;
}

export interface LogRow {
  id: string;
  actorId: string | null;
  personName: string | null;
  /** Null as well for an application that is gone. */
  applicationName: string | null;
  operation: string;
  entityType: string;
  entityId: string;
  outcome: string;
  traceId: string;
  tokenIds: string[] | null;
  destinationHost: string | null;
  reason: string | null;
  at: Date;
}

export const LogListing = queryReadBy(readLogQuery);

const filters = ['entity_type', 'entity_id', 'operation', 'trace_id', 'start_date', 'end_date'];

const isLineId = (id: string): boolean => /^\d{1,18}$/.test(id);

/** The length of the longest id, that of a token. */
const textMax = 400;

export function readLogQuery(query: URLSearchParams): LogQuery {
  const errors: Record<string, string[]> = {};
  const given = new QueryFilters(query, errors);
  const entityId = given.text('entity_id', textMax);
  const result = {
    ...readPage(query, errors, isLineId, filters),
    entityType: given.text('entity_type', textMax),
    // The log has UUIDs in lower case, and other ids of tokens as they are.
    entityId: isUuid(entityId) ? entityId.toLowerCase() : entityId,
    operation: given.text('operation', textMax),
    traceId: given.text('trace_id', traceIdMax),
    startDate: given.instant('start_date'),
    endDate: given.instant('end_date'),
  };
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return result;
}

export function toLogLine(row: LogRow): AuditLine {
  return {
    id: row.id,
    ...(row.actorId === null ? {} : { actor_id: row.actorId, actor: actorIn(row, row.actorId) }),
    operation: row.operation,
    entity_type: row.entityType,
    entity_id: row.entityId,
    outcome: row.outcome,
    trace_id: row.traceId,
    ...(row.tokenIds === null ? {} : { token_ids: row.tokenIds }),
    ...(row.destinationHost === null ? {} : { destination_host: row.destinationHost }),
    ...(row.reason === null ? {} : { reason: row.reason }),
    created_at: row.at.toISOString(),
  };
}

/** People stay as long as their tenant, so whoever is none is an application. */
export function actorIn(
  { personName, applicationName }: Pick<LogRow, 'personName' | 'applicationName'>,
  id: string,
): LineActor {
  if (personName !== null) return { type: 'person', id, name: personName };
  return {
    type: 'application',
    id,
    ...(applicationName === null ? {} : { name: applicationName }),
  };
}
