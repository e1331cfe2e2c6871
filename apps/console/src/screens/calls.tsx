import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { get, withQuery } from '../api';
import type { Call, Page } from '../api-types';
import { count, milliseconds, plural } from '../format';
import { Status, Time } from '../parts/facts';
import { useNames } from '../names';
import { Filters, useFilters, type Filter } from '../parts/filters';
import { Screen } from '../parts/screen';
import { Loaded, ProblemBox } from '../parts/states';
import { Table } from '../parts/table';
import { Text } from '../parts/text';
import { causeInShort, codes } from '../why';

const filters: readonly Filter[] = [
  {
    name: 'outcome',
    label: 'Outcome',
    kind: 'choice',
    choices: ['failed,destination_error', 'failed', 'destination_error', 'left', 'completed'],
  },
  { name: 'code', label: 'Code', kind: 'text' },
  { name: 'status', label: 'Status', kind: 'text' },
  { name: 'proxy_id', label: 'Proxy id', kind: 'text' },
  { name: 'reactor_id', label: 'Reactor id', kind: 'text' },
  { name: 'application_id', label: 'Application id', kind: 'text' },
  { name: 'trace_id', label: 'Trace id', kind: 'text' },
  { name: 'from', label: 'Ended from', kind: 'time' },
  { name: 'to', label: 'Ended to', kind: 'time' },
];
const liveMs = 2000;
const size = '100';
/** More lines make a page slow, and nobody reads them: filters find what is older. */
const shownMax = 1000;

interface Shown {
  lines: Call[];
  /** The cursor behind the last line. */
  after: string | undefined;
}

export function CallsScreen() {
  const [search] = useFilters();
  const chosen = Object.fromEntries(filters.map(({ name }) => [name, search[name]]));
  const [isLive, setLive] = useState(true);
  const [older, setOlder] = useState<{ isLoading: boolean; error?: Error }>({ isLoading: false });
  const client = useQueryClient();
  const queryKey = ['calls', chosen];
  const part = (after: string | undefined, signal?: AbortSignal) =>
    get<Page<Call>>(withQuery('/calls', { ...chosen, size, after }), signal);

  const calls = useQuery({
    queryKey,
    queryFn: async ({ signal }) =>
      joined(client.getQueryData(queryKey), await part(undefined, signal)),
    refetchInterval: isLive ? liveMs : false,
    refetchOnWindowFocus: isLive,
  });

  const loadOlder = async (shown: Shown) => {
    // A list that grows at both ends would run away under the reader.
    setLive(false);
    setOlder({ isLoading: true });
    try {
      const { data, pagination } = await part(shown.after);
      client.setQueryData<Shown>(queryKey, {
        lines: [...shown.lines, ...data],
        after: pagination.after,
      });
      setOlder({ isLoading: false });
    } catch (error) {
      setOlder({ isLoading: false, error: error as Error });
    }
  };

  return (
    <Screen
      title="Calls"
      about="Those that ended last stand first."
      actions={
        <button type="button" aria-pressed={!isLive} onClick={() => setLive(!isLive)}>
          {isLive ? 'Pause' : 'Resume'}
        </button>
      }
    >
      <Filters filters={filters} />
      <Loaded query={calls} rows={20}>
        {(shown) => (
          <>
            <CallTable calls={shown.lines} />
            <p className="more">
              <span className="quiet" aria-live="off">
                {plural(shown.lines.length, 'line')}
                {isLive ? ', live' : ', paused'}
              </span>
              {shown.after !== undefined && shown.lines.length < shownMax && (
                <button
                  type="button"
                  disabled={older.isLoading}
                  onClick={() => void loadOlder(shown)}
                >
                  {older.isLoading ? 'Loading…' : 'Load older'}
                </button>
              )}
            </p>
            <ProblemBox error={older.error} />
          </>
        )}
      </Loaded>
    </Screen>
  );
}

/**
 * Puts the newest part before what is shown. Where they do not meet, lines between them are unknown:
 * the newest part stands alone, so that no gap looks like silence.
 */
function joined(shown: Shown | undefined, { data, pagination }: Page<Call>): Shown {
  const newest = { lines: data, after: pagination.after };
  if (shown === undefined || pagination.after === undefined) return newest;
  const known = new Set(data.map(({ id }) => id));
  const rest = shown.lines.filter(({ id }) => !known.has(id));
  if (rest.length === shown.lines.length) return newest;
  const lines = [...data, ...rest].slice(0, shownMax);
  return { lines, after: shown.after };
}

function CallTable({ calls }: { calls: Call[] }) {
  const nameOf = useNames(calls);
  return (
    <Table
      caption="Calls"
      isCaptionHidden
      columns={[
        { head: 'Ended', cell: (call) => <Time at={call.ended_at} /> },
        {
          head: 'Call',
          isWide: true,
          cell: (call) => <CallLink call={call} name={nameOf(call)} />,
        },
        { head: 'Outcome', cell: (call) => <Status of={call.outcome} /> },
        { head: 'Status', cell: ({ status }) => status ?? '–', isNumber: true },
        { head: 'Took', cell: ({ phases }) => milliseconds(phases?.ended_ms), isNumber: true },
        { head: 'Why', cell: (call) => <Why call={call} /> },
      ]}
      rows={calls}
      keyOf={({ id }) => id}
      empty="No call matches. Calls with a valid key appear here within two seconds."
    />
  );
}

export function CallLink({ call, name }: { call: Call; name: string | undefined }) {
  return (
    <>
      <Link to={`/calls/${call.id}`} className="mono">
        <Text>{`${call.method} ${call.path}`}</Text>
      </Link>
      {name !== undefined && (
        <>
          {' '}
          <Text>{name}</Text>
        </>
      )}
      {call.count > 1 && <small className="quiet"> and {count(call.count - 1)} alike</small>}
    </>
  );
}

/** The reason in a few words: the call itself says more. */
export function Why({ call }: { call: Call }) {
  const { code, cause, destination_status } = call;
  if (cause) return <Text>{causeInShort(cause)}</Text>;
  if (code) return <Text>{codes[code]?.why ?? code}</Text>;
  if (call.outcome === 'destination_error') {
    return `The destination answered ${destination_status ?? call.status}.`;
  }
  if (call.outcome === 'left') return 'The caller left before the end of the answer.';
  if (call.outcome === 'failed') return 'The answer broke off.';
  return <span className="quiet">–</span>;
}
