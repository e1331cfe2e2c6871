import {
  useInfiniteQuery,
  type InfiniteData,
  type UseInfiniteQueryResult,
} from '@tanstack/react-query';
import { get, withQuery } from '../api';
import type { Page } from '../api-types';
import { count, plural } from '../format';

/** A list of the API, continued by the cursor of each part. */
export const useList = <Entry,>(
  path: string,
  parameters: Record<string, string | undefined> = {},
  refetchInterval: number | false = false,
) =>
  useInfiniteQuery({
    queryKey: ['list', path, parameters],
    queryFn: ({ pageParam, signal }) =>
      get<Page<Entry>>(withQuery(path, { ...parameters, size: '50', after: pageParam }), signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ pagination }) => pagination.after,
    refetchInterval,
  });

export const entriesOf = <Entry,>(data: InfiniteData<Page<Entry>>): Entry[] =>
  data.pages.flatMap(({ data }) => data);

/** How many entries are shown, and the way to more. */
export function More<Entry>({
  list,
  what,
  many,
}: {
  list: UseInfiniteQueryResult<InfiniteData<Page<Entry>>>;
  what: string;
  many?: string;
}) {
  if (!list.data) return null;
  const shown = entriesOf(list.data).length;
  const pagination = list.data.pages[0]?.pagination;
  const total = pagination?.total_items;
  const about = pagination?.total_items_is_estimate ? 'about ' : '';
  return (
    <p className="more">
      <span className="quiet">
        {total === undefined || total <= shown
          ? plural(shown, what, many)
          : `${count(shown)} of ${about}${plural(total, what, many)}`}
      </span>
      {list.hasNextPage && (
        <button
          type="button"
          disabled={list.isFetchingNextPage}
          onClick={() => void list.fetchNextPage()}
        >
          {list.isFetchingNextPage ? 'Loading…' : 'Load more'}
        </button>
      )}
    </p>
  );
}
