import { Link } from '@tanstack/react-router';
import type { Run } from '../api-types';
import { milliseconds } from '../format';
import { useNames } from '../names';
import { Id, Status, Time } from '../parts/facts';
import { Filters, useFilters, type Filter } from '../parts/filters';
import { entriesOf, More, useList } from '../parts/list';
import { Screen } from '../parts/screen';
import { Loaded } from '../parts/states';
import { Table } from '../parts/table';
import { Text } from '../parts/text';
import { positionInWords } from '../why';

const filters: readonly Filter[] = [
  {
    name: 'status',
    label: 'Status',
    kind: 'choice',
    choices: ['pending', 'running', 'held', 'completed', 'failed'],
  },
  { name: 'kind', label: 'Kind', kind: 'choice', choices: ['reactor', 'transform'] },
  { name: 'resource_id', label: 'Reactor or proxy id', kind: 'text' },
  { name: 'trace_id', label: 'Trace id', kind: 'text' },
  { name: 'from', label: 'Accepted from', kind: 'time' },
  { name: 'to', label: 'Accepted to', kind: 'time' },
];
const refreshMs = 5000;

export function RunsScreen() {
  const [search] = useFilters();
  const chosen = Object.fromEntries(filters.map(({ name }) => [name, search[name]]));
  const list = useList<Run>('/runs', chosen, refreshMs);
  return (
    <Screen title="Runs" about="Runs of reactors and of transforms, the newest first.">
      <Filters filters={filters} />
      <Loaded query={list} rows={20}>
        {(data) => <RunTable runs={entriesOf(data)} />}
      </Loaded>
      <More list={list} what="run" />
    </Screen>
  );
}

function RunTable({ runs }: { runs: Run[] }) {
  const nameOf = useNames(
    runs.map(({ kind, resource_id }) =>
      kind === 'reactor' ? { reactor_id: resource_id } : { proxy_id: resource_id },
    ),
  );
  return (
    <Table
      caption="Runs"
      isCaptionHidden
      columns={[
        { head: 'Accepted', cell: ({ created_at }) => <Time at={created_at} /> },
        { head: 'Run', cell: ({ id }) => <Id value={id} to={`/runs/${id}`} what="run id" /> },
        {
          head: 'Of',
          cell: ({ kind, mode, resource_id }) => (
            <>
              <Link
                to={kind === 'reactor' ? `/reactors/${resource_id}` : `/proxies/${resource_id}`}
              >
                <Text>{nameOf({ reactor_id: resource_id }) ?? kind}</Text>
              </Link>{' '}
              <span className="quiet">{mode}</span>
            </>
          ),
        },
        { head: 'Status', cell: ({ status }) => <Status of={status} /> },
        { head: 'Took', cell: ({ duration_ms }) => milliseconds(duration_ms), isNumber: true },
        {
          head: 'Outcome',
          cell: ({ status, outcome, position }) =>
            outcome === undefined || status === 'completed' ? (
              <span className="quiet">–</span>
            ) : (
              <>
                <Text>{outcome.replaceAll('_', ' ')}</Text>
                {position && ` at ${positionInWords(position)}`}
              </>
            ),
        },
      ]}
      rows={runs}
      keyOf={({ id }) => id}
      empty="No run matches. Async runs appear when they are accepted, others within a second after their answer."
    />
  );
}
