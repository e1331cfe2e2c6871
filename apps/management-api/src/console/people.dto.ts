import type { CursorQuery } from '@glovebox/database';
import { invalid } from '@glovebox/problems';
import { queryReadBy } from '../http/request';
import { readCursorQuery } from '../lists/cursor';
import { QueryFilters } from '../lists/query-filters';

export interface SessionQuery extends CursorQuery {
  readonly personId: string | undefined;
}

export const SessionListing = queryReadBy((query): SessionQuery => {
  const errors: Record<string, string[]> = {};
  const filters = new QueryFilters(query, errors);
  const result = {
    ...readCursorQuery(query, errors, filters, ['person_id']),
    personId: filters.uuid('person_id'),
  };
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return result;
});

export interface LiveSessionRow {
  readonly id: string;
  readonly createdAt: Date;
  readonly seenAt: Date;
  readonly machine: string | null;
  readonly personId: string;
  readonly name: string;
  readonly role: string;
  readonly issuer: string;
  readonly subject: string;
}

interface LiveSessionResponse {
  readonly id: string;
  /** Where the command line runs that was signed in. Absent: a page. */
  readonly machine?: string;
  readonly person: {
    readonly id: string;
    readonly name: string;
    readonly role: string;
    /** `link`, or the OpenID provider. */
    readonly issuer: string;
    readonly subject: string;
  };
  readonly created_at: string;
  readonly seen_at: string;
}

export const toLiveSession = (row: LiveSessionRow): LiveSessionResponse => ({
  id: row.id,
  ...(row.machine === null ? {} : { machine: row.machine }),
  person: {
    id: row.personId,
    name: row.name,
    role: row.role,
    issuer: row.issuer,
    subject: row.subject,
  },
  created_at: row.createdAt.toISOString(),
  seen_at: row.seenAt.toISOString(),
});
