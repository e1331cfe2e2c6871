import { invalid } from '@glovebox/problems';
import { isInstant } from '@glovebox/wire';
import { queryReadBy } from '../http/request';
import { readPage, type PageQuery } from '../lists/listing';
import { isUuid } from '../validation/uuid';

/** Selects lines of the audit log. Both dates are inclusive. */
export interface LogQuery extends PageQuery {
  readonly entityType: string | undefined;
  readonly entityId: string | undefined;
  readonly operation: string | undefined;
  readonly startDate: Date | undefined;
  readonly endDate: Date | undefined;
}

export interface LogLine {
  id: string;
  actor_id?: string;
  operation: string;
  entity_type: string;
  entity_id: string;
  outcome: string;
  trace_id: string;
  token_ids?: string[];
  destination_host?: string;
  created_at: string;
}

export interface LogRow {
  id: string;
  actorId: string | null;
  operation: string;
  entityType: string;
  entityId: string;
  outcome: string;
  traceId: string;
  tokenIds: string[] | null;
  destinationHost: string | null;
  at: Date;
}

export const LogListing = queryReadBy(readLogQuery);

const filters = new Set(['entity_type', 'entity_id', 'operation', 'start_date', 'end_date']);

/** The length of the longest id, that of a token. */
const textMax = 400;

export function readLogQuery(query: URLSearchParams): LogQuery {
  const errors: Record<string, string[]> = {};
  const once = (name: string, problemOf: (text: string) => string | undefined) => {
    const [text, ...others] = query.getAll(name);
    if (text === undefined) return undefined;
    const problem = others.length > 0 ? 'must be given once' : problemOf(text);
    if (problem === undefined) return text;
    errors[name] = [problem];
    return undefined;
  };
  const readText = (name: string): string | undefined =>
    once(name, (text) =>
      text.length > textMax || text.includes('\0')
        ? `must be at most ${textMax} characters, without NUL`
        : undefined,
    );
  const readDate = (name: string): Date | undefined => {
    const text = once(name, (value) =>
      isInstant(value) ? undefined : 'must be an ISO 8601 time with an offset or Z',
    );
    return text === undefined ? undefined : new Date(text);
  };

  const entityId = readText('entity_id');
  const result = {
    ...readPage(query, errors, (name) => filters.has(name)),
    entityType: readText('entity_type'),
    // The log has UUIDs in lower case, and other ids of tokens as they are.
    entityId: isUuid(entityId) ? entityId.toLowerCase() : entityId,
    operation: readText('operation'),
    startDate: readDate('start_date'),
    endDate: readDate('end_date'),
  };
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return result;
}

export function toLogLine(row: LogRow): LogLine {
  return {
    id: row.id,
    ...(row.actorId === null ? {} : { actor_id: row.actorId }),
    operation: row.operation,
    entity_type: row.entityType,
    entity_id: row.entityId,
    outcome: row.outcome,
    trace_id: row.traceId,
    ...(row.tokenIds === null ? {} : { token_ids: row.tokenIds }),
    ...(row.destinationHost === null ? {} : { destination_host: row.destinationHost }),
    created_at: row.at.toISOString(),
  };
}
