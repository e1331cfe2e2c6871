import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { get, send, withQuery } from '../api';
import type { Page, Token } from '../api-types';
import { Id, Time } from '../parts/facts';
import { useFilters } from '../parts/filters';
import { entriesOf, More } from '../parts/list';
import { Screen } from '../parts/screen';
import { Loaded } from '../parts/states';
import { Table } from '../parts/table';
import { Text } from '../parts/text';

const size = 50;

export function TokensScreen() {
  const [{ query = '', type = '' }] = useFilters();
  const list = useInfiniteQuery({
    queryKey: ['tokens', query, type],
    queryFn: ({ pageParam: after, signal }) =>
      query
        ? send<Page<Token>>('POST', '/tokens/search', { query, size, ...(after && { after }) })
        : get<Page<Token>>(withQuery('/tokens', { type, size: String(size), after }), signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ pagination }) => pagination.after,
  });
  return (
    <Screen
      title="Tokens"
      about="Data is masked. What a mask shows depends on the type of the token."
    >
      <Find />
      <Loaded query={list} rows={20}>
        {(data) => (
          <Table<Token>
            caption="Tokens"
            isCaptionHidden
            columns={[
              {
                head: 'Token',
                cell: ({ id }) => (
                  <Id value={id} to={`/tokens/${encodeURIComponent(id)}`} what="token id" />
                ),
              },
              {
                head: 'Type',
                cell: ({ type }) => (
                  <span className="word">
                    <Text>{type.replaceAll('_', ' ')}</Text>
                  </span>
                ),
              },
              { head: 'Shows', cell: (token) => <Masked token={token} /> },
              {
                head: 'Container',
                cell: ({ containers }) => (
                  <code className="word" title={containers.join(', ')}>
                    <Text>{containers.join(', ')}</Text>
                  </code>
                ),
              },
              { head: 'Made', cell: ({ created_at }) => <Time at={created_at} /> },
              {
                head: 'Expires',
                cell: ({ expires_at }) =>
                  expires_at ? <Time at={expires_at} /> : <span className="quiet">never</span>,
              },
            ]}
            rows={entriesOf(data)}
            keyOf={({ id }) => id}
            empty={query ? 'No token matches this search.' : 'There is no token that you may see.'}
          />
        )}
      </Loaded>
      <More list={list} what="token" />
    </Screen>
  );
}

/** By its id straight to the token; by a search to those that match. */
function Find() {
  const [search, set] = useFilters();
  const [id, setId] = useState('');
  const navigate = useNavigate();
  const idField = useId();
  const queryField = useId();
  return (
    <div className="filters">
      <form
        role="search"
        aria-label="Token by id"
        onSubmit={(event) => {
          event.preventDefault();
          void navigate({ to: `/tokens/${encodeURIComponent(id.trim())}` });
        }}
      >
        <label htmlFor={idField}>Token id</label>
        <input
          id={idField}
          type="text"
          className="wide"
          required
          autoComplete="off"
          spellCheck={false}
          value={id}
          onChange={({ target }) => setId(target.value)}
        />{' '}
        <button type="submit">Open</button>
      </form>
      <form
        key={search.query ?? ''}
        role="search"
        aria-label="Search of tokens"
        onSubmit={(event) => {
          event.preventDefault();
          set({ query: String(new FormData(event.currentTarget).get('query')).trim() });
        }}
      >
        <label htmlFor={queryField}>Search</label>
        <input
          id={queryField}
          name="query"
          type="text"
          className="wide"
          autoComplete="off"
          spellCheck={false}
          placeholder="type:card AND container:/pci/*"
          defaultValue={search.query ?? ''}
        />{' '}
        <button type="submit">Search</button>
      </form>
    </div>
  );
}

/** What may be seen of the data, in one line. */
function Masked({ token: { mask, data } }: { token: Token }) {
  const shown = data ?? mask;
  if (shown === undefined) return <span className="quiet">nothing</span>;
  return (
    <code>
      <Text>{inOneLine(shown)}</Text>
    </code>
  );
}

function inOneLine(shown: unknown): string {
  if (typeof shown === 'string') return shown;
  if (typeof shown !== 'object' || shown === null || Array.isArray(shown)) {
    return JSON.stringify(shown);
  }
  return Object.entries(shown)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}
