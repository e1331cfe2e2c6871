import { Link } from '@tanstack/react-router';
import type { LogLine } from '../api-types';
import { plural } from '../format';
import { Id, Status, Time } from '../parts/facts';
import { Filters, useFilters, type Filter } from '../parts/filters';
import { entriesOf, More, useList } from '../parts/list';
import { Screen } from '../parts/screen';
import { Loaded } from '../parts/states';
import { Table } from '../parts/table';
import { Text } from '../parts/text';

const filters: readonly Filter[] = [
  { name: 'operation', label: 'Operation', kind: 'text' },
  { name: 'entity_type', label: 'Kind of entity', kind: 'text' },
  { name: 'entity_id', label: 'Entity id', kind: 'text' },
  { name: 'trace_id', label: 'Trace id', kind: 'text' },
  { name: 'start_date', label: 'From', kind: 'time' },
  { name: 'end_date', label: 'To', kind: 'time' },
];

export function AuditScreen() {
  const [search] = useFilters();
  const chosen = Object.fromEntries(filters.map(({ name }) => [name, search[name]]));
  const list = useList<LogLine>('/logs', chosen);
  return (
    <Screen
      title="Audit log"
      about="Who did what, the newest first. It holds ids and names, never values."
    >
      <Filters filters={filters} />
      <Loaded query={list} rows={20}>
        {(data) => (
          <Table<LogLine>
            caption="Audit log"
            isCaptionHidden
            columns={[
              { head: 'At', cell: ({ created_at }) => <Time at={created_at} /> },
              { head: 'Who', cell: (line) => <Actor of={line} /> },
              {
                head: 'Did',
                cell: ({ operation }) => (
                  <code className="operation">
                    <Text>{operation}</Text>
                  </code>
                ),
              },
              { head: 'To', cell: (line) => <Entity of={line} /> },
              { head: 'Outcome', cell: ({ outcome }) => <Status of={outcome} /> },
              { head: 'More', cell: (line) => <Details of={line} /> },
              {
                head: 'Trace',
                cell: ({ trace_id }) => (
                  <Link to="/calls" search={{ trace_id }} className="mono trace" title={trace_id}>
                    {trace_id.slice(0, 8)}
                  </Link>
                ),
              },
            ]}
            rows={entriesOf(data)}
            keyOf={({ id }) => id}
            empty="No line matches."
          />
        )}
      </Loaded>
      <More list={list} what="line" />
    </Screen>
  );
}

function Actor({ of: { actor, actor_id } }: { of: LogLine }) {
  if (actor?.type === 'person') return <Text>{actor.name ?? actor.id}</Text>;
  const id = actor?.id ?? actor_id;
  if (id === undefined) return <span className="quiet">the operator</span>;
  if (actor?.name === undefined) {
    return <Id value={id} to={`/applications/${id}`} what="application id" />;
  }
  return (
    <Link to={`/applications/${id}`}>
      <Text>{actor.name}</Text>
    </Link>
  );
}

const screens: Record<string, string> = {
  application: '/applications/',
  reactor: '/reactors/',
  reactor_formula: '/formulas/',
  formula: '/formulas/',
  proxy: '/proxies/',
  token: '/tokens/',
  run: '/runs/',
};

function Entity({ of: { entity_type, entity_id } }: { of: LogLine }) {
  const screen = screens[entity_type];
  return (
    <>
      {entity_type.replaceAll('_', ' ')}{' '}
      <Id
        value={entity_id}
        {...(screen ? { to: screen + encodeURIComponent(entity_id) } : {})}
        what="entity id"
      />
    </>
  );
}

function Details({ of: { token_ids, destination_host, reason } }: { of: LogLine }) {
  const [only] = token_ids ?? [];
  if (!only && !destination_host && !reason) return <span className="quiet">–</span>;
  return (
    <>
      {only !== undefined && (
        <Link to={`/tokens/${encodeURIComponent(only)}`} title={token_ids?.join('\n')}>
          {plural(token_ids?.length ?? 0, 'token')}
        </Link>
      )}{' '}
      {destination_host && (
        <>
          to <Text>{destination_host}</Text>
        </>
      )}{' '}
      {reason && (
        <>
          “<Text>{reason}</Text>”
        </>
      )}
    </>
  );
}
