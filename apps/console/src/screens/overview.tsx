import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { get } from '../api';
import type { Figures, Overview } from '../api-types';
import { count, exactTime, milliseconds, plural, relativeTime, share } from '../format';
import { useNames } from '../names';
import { Chart } from '../parts/chart';
import { Id, Status, Time } from '../parts/facts';
import { useFilters } from '../parts/filters';
import { Screen, Section } from '../parts/screen';
import { Loaded } from '../parts/states';
import { Table } from '../parts/table';
import { Text } from '../parts/text';
import { CallLink, Why } from './calls';

const periods = [
  ['1', '1 hour'],
  ['24', '24 hours'],
  ['168', '7 days'],
] as const;
const refreshMs = 10_000;

export function OverviewScreen() {
  const [search, set] = useFilters();
  const hours = periods.find(([hours]) => hours === search.hours)?.[0] ?? '1';
  const overview = useQuery({
    queryKey: ['overview', hours],
    queryFn: ({ signal }) => get<Overview>(`/overview?hours=${hours}`, signal),
    refetchInterval: refreshMs,
    placeholderData: (before) => before,
  });
  return (
    <Screen
      title="Overview"
      actions={
        <div className="choice" role="group" aria-label="Period">
          {periods.map(([value, name]) => (
            <button
              key={value}
              type="button"
              aria-pressed={value === hours}
              onClick={() => set({ hours: value === '1' ? undefined : value })}
            >
              {name}
            </button>
          ))}
        </div>
      }
    >
      <Loaded query={overview} rows={16}>
        {(shown) => (
          <div className={overview.isPlaceholderData ? 'stale' : undefined}>
            <Totals of={shown.totals} />
            <Series of={shown} />
            <Failures of={shown} />
            <Resources of={shown} hours={hours} />
            <Waiting of={shown.waiting} />
            <Processes of={shown} />
          </div>
        )}
      </Loaded>
    </Screen>
  );
}

const countedMs = 60_000;

/** The counts know of what took longer than a minute only that it did. */
const quantile = (ms: number | undefined) =>
  ms !== undefined && ms >= countedMs ? '> 60 s' : milliseconds(ms);

function Totals({ of }: { of: Figures }) {
  return (
    <dl className="totals">
      <Figure name="Calls" value={count(of.calls)} />
      <Figure
        name="Failed"
        value={count(of.failed)}
        more={share(of.failed, of.calls)}
        isBad={of.failed > 0}
      />
      <Figure name="p50" value={quantile(of.p50_ms)} />
      <Figure name="p95" value={quantile(of.p95_ms)} />
    </dl>
  );
}

function Figure({
  name,
  value,
  more,
  isBad,
}: {
  name: string;
  value: string;
  more?: string;
  isBad?: boolean;
}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className={isBad ? 'bad' : undefined}>
        {value} {more && <small>{more}</small>}
      </dd>
    </div>
  );
}

function Series({ of }: { of: Overview }) {
  return (
    <Section
      title="Calls over time"
      actions={
        <p className="legend" aria-hidden="true">
          <span className="calls">calls</span> <span className="failed">failed</span>
        </p>
      }
    >
      <Chart points={of.series} />
      <div className="unseen">
        <Table
          caption="Calls and failures over time"
          columns={[
            { head: 'From', cell: ({ at }) => <Time at={at} /> },
            { head: 'Calls', cell: ({ calls }) => count(calls) },
            { head: 'Failed', cell: ({ failed }) => count(failed) },
          ]}
          rows={of.series}
          keyOf={({ at }) => at}
          empty="There were no calls."
        />
      </div>
    </Section>
  );
}

function Failures({ of }: { of: Overview }) {
  const nameOf = useNames(of.failures);
  return (
    <Section
      title="Newest failures"
      actions={
        <Link to="/calls" search={{ outcome: 'failed,destination_error' }}>
          All failed calls
        </Link>
      }
    >
      <Table
        caption="The five newest failures"
        isCaptionHidden
        columns={[
          { head: 'Ended', cell: (call) => <Time at={call.ended_at} /> },
          { head: 'Call', cell: (call) => <CallLink call={call} name={nameOf(call)} /> },
          { head: 'Outcome', cell: (call) => <Status of={call.outcome} /> },
          { head: 'Why', cell: (call) => <Why call={call} /> },
        ]}
        rows={of.failures}
        keyOf={({ id }) => id}
        empty="No call has failed in this period."
      />
    </Section>
  );
}

type Resource = Overview['resources'][number];

function Resources({ of, hours }: { of: Overview; hours: string }) {
  return (
    <Section title="Resources">
      <Table<Resource>
        caption={`Calls by resource, those with most failures first${of.truncated ? '; the first 100' : ''}`}
        isCaptionHidden={!of.truncated}
        columns={[
          { head: 'Resource', cell: (resource) => <ResourceLink of={resource} hours={hours} /> },
          { head: 'Calls', cell: ({ calls }) => count(calls), isNumber: true },
          {
            head: 'Failed',
            cell: ({ failed, calls }) => (
              <span className={failed > 0 ? 'bad' : 'quiet'}>
                {count(failed)} <small>{share(failed, calls)}</small>
              </span>
            ),
            isNumber: true,
          },
          { head: 'p50', cell: ({ p50_ms }) => quantile(p50_ms), isNumber: true },
          { head: 'p95', cell: ({ p95_ms }) => quantile(p95_ms), isNumber: true },
        ]}
        rows={of.resources}
        keyOf={({ resource, proxy_id, reactor_id }) => `${resource} ${proxy_id} ${reactor_id}`}
        empty={
          <>
            No calls in this period. Store a token, or send a request through a proxy, and it
            appears here within ten seconds.
          </>
        }
      />
    </Section>
  );
}

/** To the failed calls of a proxy or reactor, where it has some. Other paths have no such filter. */
function ResourceLink({ of, hours }: { of: Resource; hours: string }) {
  const { resource, proxy_id, reactor_id, name, failed } = of;
  const shown = name === undefined ? <Text>{resource}</Text> : <Text>{name}</Text>;
  if (proxy_id === undefined && reactor_id === undefined) return <code>{shown}</code>;
  const search = {
    ...(proxy_id ? { proxy_id } : {}),
    ...(reactor_id ? { reactor_id } : {}),
    ...(failed > 0 ? { outcome: 'failed,destination_error' } : {}),
    from: new Date(Date.now() - Number(hours) * 3_600_000).toISOString(),
  };
  return (
    <>
      <Link to="/calls" search={search}>
        {shown}
      </Link>{' '}
      {name !== undefined && <code className="quiet">{resource}</code>}
    </>
  );
}

function Waiting({ of }: { of: Overview['waiting'] }) {
  const { runs, deliveries, counted_max } = of;
  const rows = [
    {
      name: 'Runs',
      to: '/runs',
      states: [
        ['pending', runs.pending],
        ['running', runs.running],
        ['held', runs.held],
      ] as const,
      due: runs.oldest_due_at,
    },
    {
      name: 'Webhooks',
      to: '/deliveries',
      states: [
        ['pending', deliveries.pending],
        ['failing', deliveries.failing],
        ['held', deliveries.held],
      ] as const,
      due: deliveries.oldest_due_at,
    },
  ];
  return (
    <Section title="Waiting">
      <Table
        caption="What waits, and since when"
        isCaptionHidden
        columns={[
          { head: 'Queue', cell: ({ name, to }) => <Link to={to}>{name}</Link> },
          {
            head: 'Waiting',
            cell: ({ states }) => {
              const some = states.filter(([, n]) => n > 0);
              if (some.length === 0) return <span className="quiet">nothing waits</span>;
              return some
                .map(([state, n]) => `${count(n)}${n >= counted_max ? ' or more' : ''} ${state}`)
                .join(', ');
            },
          },
          { head: 'Oldest due', cell: ({ due }) => <Due at={due} /> },
        ]}
        rows={rows}
        keyOf={({ name }) => name}
        empty=""
      />
    </Section>
  );
}

const lateMs = 60_000;

function Due({ at }: { at: string | undefined }) {
  if (at === undefined) return <span className="quiet">–</span>;
  const isLate = Date.now() - Date.parse(at) > lateMs;
  return (
    <span className={isLate ? 'bad' : undefined}>
      <Time at={at} /> <small>{relativeTime(at)}</small>
    </span>
  );
}

const silentMs = 60_000;

function Processes({ of: { processes, runners = [] } }: { of: Overview }) {
  const versions = new Set(processes.map(({ version }) => version));
  return (
    <Section title="Processes">
      <Table
        caption={
          versions.size > 1
            ? 'Processes of several versions are at work: an upgrade is under way.'
            : 'Processes'
        }
        isCaptionHidden={versions.size <= 1}
        columns={[
          {
            head: 'Process',
            cell: ({ app, id }) => (
              <>
                {app} <Id value={id} what="process id" />
              </>
            ),
          },
          { head: 'Version', cell: ({ version }) => <Text>{version}</Text> },
          {
            head: 'Definitions',
            cell: ({ definition_lag }) =>
              definition_lag === 0 ? (
                'up to date'
              ) : (
                <span className="warn">{plural(definition_lag, 'change')} behind</span>
              ),
          },
          { head: 'Last heard of', cell: ({ seen_at }) => <Seen at={seen_at} /> },
        ]}
        rows={processes}
        keyOf={({ id }) => id}
        empty="No process has told of itself yet."
      />
      {runners.length > 0 && <p className="more quiet">{runners.map(runnerInWords).join(' · ')}</p>}
    </Section>
  );
}

const runnerInWords = ({ version, level }: { version?: string; level?: number | string }) =>
  ['runner', version, level === undefined ? '' : `with sandbox level ${level}`]
    .filter(Boolean)
    .join(' ');

function Seen({ at }: { at: string }) {
  const isSilent = Date.now() - Date.parse(at) > silentMs;
  return (
    <time dateTime={at} title={exactTime(at)} className={isSilent ? 'bad' : undefined}>
      {relativeTime(at)}
    </time>
  );
}
