import type { CursorQuery } from '@glovebox/database';
import type { QueryFilters } from './query-filters';
import { readSize, requireKnown } from './listing';
import { Page, type PageRows } from './page';

export function readCursorQuery(
  query: URLSearchParams,
  errors: Record<string, string[]>,
  filters: QueryFilters,
  names: readonly string[],
): CursorQuery {
  requireKnown(query, ['size', 'after', 'from', 'to', ...names]);
  return {
    size: readSize(query, errors),
    after: filters.uuid('after'),
    from: filters.instant('from'),
    to: filters.instant('to'),
  };
}

/** A part of a log, the newest first. The id that only shows that there is more is cut off. */
export function toCursorPage(
  { size }: CursorQuery,
  ids: readonly string[],
  rowsOf: (ids: readonly string[]) => PageRows,
  about?: object,
): Page {
  const after = ids.length > size ? ids[size - 1] : undefined;
  const pagination = { page_size: size, ...(after === undefined ? {} : { after }) };
  return new Page(pagination, rowsOf(ids.slice(0, size)), about);
}
