import { useQueries } from '@tanstack/react-query';
import { get } from './api';
import type { Page } from './api-types';
import { useSession } from './session';

interface Named {
  id: string;
  name: string;
}

interface Naming {
  proxy_id?: string | undefined;
  reactor_id?: string | undefined;
}

const kinds = [
  { member: 'proxy_id', path: '/proxies', permission: 'proxy:read' },
  { member: 'reactor_id', path: '/reactors', permission: 'reactor:read' },
] as const;
/** As many as a page of the API holds. */
const namedMax = 100;

/**
 * The names of the proxies and reactors that entries of a log have the ids of. What is deleted has
 * none, and somebody who may not read them sees ids alone.
 */
export function useNames(entries: readonly Naming[]): (entry: Naming) => string | undefined {
  const { permissions } = useSession();
  const lists = useQueries({
    queries: kinds.map(({ member, path, permission }) => {
      const ids = [...new Set(entries.flatMap((entry) => entry[member] ?? []))]
        .sort()
        .slice(0, namedMax);
      const query = new URLSearchParams(ids.map((id) => ['id', id]));
      return {
        queryKey: ['names', path, ids],
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          get<Page<Named>>(`${path}?${query}&size=${namedMax}`, signal),
        enabled: ids.length > 0 && permissions.includes(permission),
        placeholderData: (before: Page<Named> | undefined) => before,
        staleTime: 60_000,
      };
    }),
  });
  const names = new Map(
    lists.flatMap(({ data }) => data?.data ?? []).map(({ id, name }) => [id, name] as const),
  );
  return ({ proxy_id, reactor_id }) => names.get(proxy_id ?? reactor_id ?? '');
}
