import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { get, send } from '../api';
import type { CaptureLine, Captures as Captured, CaptureWindow } from '../api-types';
import { bytes, relativeTime } from '../format';
import { Time } from '../parts/facts';
import { TextField, Tick } from '../parts/fields';
import { useFilters } from '../parts/filters';
import { Section } from '../parts/screen';
import { Loaded, ProblemBox } from '../parts/states';
import { Table } from '../parts/table';
import { Text } from '../parts/text';
import { useSession } from '../session';
import { CaptureShown } from './capture';

const refreshMs = 3000;
const shownMax = 100;

/** Looks at the messages of a proxy for some minutes: their shapes, and not their values. */
export function Captures({ proxyId }: { proxyId: string }) {
  const path = `/proxies/${encodeURIComponent(proxyId)}/captures`;
  const [{ capture }, setFilter] = useFilters();
  const queryKey = ['captures', proxyId];
  const captures = useQuery({
    queryKey,
    queryFn: ({ signal }) => get<Captured>(`${path}?size=${shownMax}`, signal),
    refetchInterval: ({ state }) => (state.data?.window ? refreshMs : false),
  });
  return (
    <Section title="Capture">
      <Loaded query={captures} rows={3}>
        {({ window, data }) => (
          <>
            <Switch path={path} window={window} queryKey={queryKey} />
            {(data.length > 0 || window) && (
              <CaptureTable
                lines={data}
                isOn={window !== undefined}
                linkOf={(id) => ({ to: `/proxies/${proxyId}`, search: { capture: id } })}
              />
            )}
            {capture !== undefined && (
              <CaptureShown
                key={capture}
                path={`${path}/${encodeURIComponent(capture)}`}
                close={() => setFilter({ capture: undefined })}
              />
            )}
          </>
        )}
      </Loaded>
    </Section>
  );
}

function Switch({
  path,
  window,
  queryKey,
}: {
  path: string;
  window: CaptureWindow | undefined;
  queryKey: string[];
}) {
  const client = useQueryClient();
  const { role } = useSession();
  const [minutes, setMinutes] = useState('10');
  const [whole, setWhole] = useState(false);
  const refresh = () => client.invalidateQueries({ queryKey });
  const start = useMutation({
    mutationFn: () => send<CaptureWindow>('POST', path, { minutes: Number(minutes), whole }),
    onSuccess: refresh,
  });
  const end = useMutation({ mutationFn: () => send('DELETE', path), onSuccess: refresh });
  return (
    <form
      className="panel"
      aria-label="Capture"
      onSubmit={(event) => {
        event.preventDefault();
        start.mutate();
      }}
    >
      <p className="quiet">
        Keeps the messages of calls as shapes: types and lengths in the place of values, expressions
        as they were. Keys and cookies are never kept. It is gone after 24 hours, and each start and
        reading is recorded in the audit log.
      </p>
      {window ? (
        <div className="row">
          <strong role="status">
            On until <Time at={window.until} />
            {window.whole && ', with whole texts'}
          </strong>
          <span className="quiet">{relativeTime(window.until)}</span>
          <button type="button" disabled={end.isPending} onClick={() => end.mutate()}>
            {end.isPending ? 'Switching off…' : 'Switch off'}
          </button>
        </div>
      ) : (
        <>
          <div className="row">
            <TextField
              label="Minutes (at most 60)"
              type="number"
              value={minutes}
              change={setMinutes}
            />
          </div>
          {role === 'admin' && (
            <Tick
              label="With whole texts: the tenant has to allow it, and admins alone read them"
              value={whole}
              change={setWhole}
            />
          )}
          <div className="row">
            <button type="submit" disabled={start.isPending}>
              {start.isPending ? 'Switching on…' : 'Switch on'}
            </button>
          </div>
        </>
      )}
      <ProblemBox error={start.error ?? end.error} />
    </form>
  );
}

function CaptureTable({
  lines,
  isOn,
  linkOf,
}: {
  lines: readonly CaptureLine[];
  isOn: boolean;
  linkOf: (id: string) => { to: string; search: { capture: string } };
}) {
  return (
    <div className="below">
      <Table<CaptureLine>
        caption="Captured calls, the newest first"
        columns={[
          {
            head: 'At',
            cell: ({ id, created_at }) => (
              <Link {...linkOf(id)} resetScroll={false}>
                <Time at={created_at} />
              </Link>
            ),
          },
          { head: 'Method', cell: ({ method }) => <Text>{method}</Text> },
          { head: 'Status', cell: ({ status }) => status ?? '–', isNumber: true },
          {
            head: 'Why it failed',
            cell: ({ code }) =>
              code ? (
                <code>
                  <Text>{code}</Text>
                </code>
              ) : (
                <span className="quiet">–</span>
              ),
          },
          { head: 'Kept', cell: ({ whole }) => (whole ? 'whole texts' : 'shapes') },
          { head: 'Size', cell: ({ bytes: size }) => bytes(size), isNumber: true },
          {
            head: 'Trace',
            cell: ({ trace_id }) => (
              <Link to="/calls" search={{ trace_id }} className="mono trace" title={trace_id}>
                <Text>{trace_id.slice(0, 8)}</Text>
              </Link>
            ),
          },
        ]}
        rows={lines}
        keyOf={({ id }) => id}
        empty={isOn ? 'No call yet. Calls appear here within some seconds.' : 'None is kept.'}
      />
    </div>
  );
}
