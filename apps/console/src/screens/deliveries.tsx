import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { send } from '../api';
import type { Delivery } from '../api-types';
import { count, plural } from '../format';
import { Dialog } from '../parts/dialog';
import { Id, Status, Time } from '../parts/facts';
import { Filters, useFilters, type Filter, type Search } from '../parts/filters';
import { entriesOf, More, useList } from '../parts/list';
import { Screen } from '../parts/screen';
import { Loaded, ProblemBox } from '../parts/states';
import { Table } from '../parts/table';
import { Text } from '../parts/text';
import { useMay } from '../session';
import { causeInShort } from '../why';

const filters: readonly Filter[] = [
  {
    name: 'status',
    label: 'Status',
    kind: 'choice',
    choices: ['pending', 'held', 'delivered', 'failed'],
  },
  { name: 'host', label: 'Host', kind: 'text' },
  { name: 'reactor_id', label: 'Reactor id', kind: 'text' },
  { name: 'trace_id', label: 'Trace id', kind: 'text' },
  { name: 'from', label: 'Accepted from', kind: 'time' },
  { name: 'to', label: 'Accepted to', kind: 'time' },
];
const refreshMs = 5000;

export function DeliveriesScreen() {
  const [search] = useFilters();
  const chosen = Object.fromEntries(filters.map(({ name }) => [name, search[name]]));
  const list = useList<Delivery>('/webhook-deliveries', chosen, refreshMs);
  return (
    <Screen
      title="Deliveries"
      about="Webhooks of async runs, the newest first."
      actions={useMay('reactor:update') && <ReplayByFilter search={search} />}
    >
      <Filters filters={filters} />
      <Loaded query={list} rows={20}>
        {(data) => (
          <Table<Delivery>
            caption="Deliveries"
            isCaptionHidden
            columns={[
              { head: 'Made', cell: ({ created_at }) => <Time at={created_at} /> },
              {
                head: 'Delivery',
                cell: ({ id }) => <Id value={id} to={`/deliveries/${id}`} what="delivery id" />,
              },
              { head: 'Host', cell: ({ host }) => <Text>{host}</Text> },
              { head: 'Status', cell: ({ status }) => <Status of={status} /> },
              {
                head: 'Attempts',
                cell: ({ attempts }) => count(attempts.length),
                isNumber: true,
              },
              { head: 'Last attempt', cell: (delivery) => <LastAttempt of={delivery} /> },
              {
                head: 'Next',
                cell: ({ next_attempt_at }) => <Time at={next_attempt_at} />,
              },
            ]}
            rows={entriesOf(data)}
            keyOf={({ id }) => id}
            empty="No webhook matches. A run with callback_url makes one when it has ended."
          />
        )}
      </Loaded>
      <More list={list} what="delivery" many="deliveries" />
    </Screen>
  );
}

function LastAttempt({ of: { attempts } }: { of: Delivery }) {
  const last = attempts.at(-1);
  if (last === undefined) return <span className="quiet">none yet</span>;
  if (last.cause) return <Text>{causeInShort(last.cause)}</Text>;
  return (
    <>
      {last.outcome.replaceAll('_', ' ')}
      {last.status !== undefined && `, answered ${last.status}`}
    </>
  );
}

const replayLimit = 1000;

/** Sends ended webhooks again, all that match. Their number is shown before. */
function ReplayByFilter({ search }: { search: Search }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setAsking(true)}>
        Send again by filter…
      </button>
      {isAsking && <AskReplay search={search} close={() => setAsking(false)} />}
    </>
  );
}

function AskReplay({ search, close }: { search: Search; close: () => void }) {
  const client = useQueryClient();
  const { host, reactor_id, from, to } = search;
  // Only what has ended can be sent again, and mostly what has failed is meant.
  const status = search.status === 'delivered' ? 'delivered' : 'failed';
  const filter = Object.fromEntries(
    Object.entries({ status, host, reactor_id, from, to }).filter(([, value]) => value),
  );
  const body = { filter, limit: replayLimit };
  const counted = useQuery({
    queryKey: ['replay', filter],
    queryFn: async () =>
      (
        await send<{ count: number }>('POST', '/webhook-deliveries/replay', {
          ...body,
          dry_run: true,
        })
      ).count,
    gcTime: 0,
  });
  const replay = useMutation({
    mutationFn: () =>
      send<{ matched: number; queued: number; gone: number }>(
        'POST',
        '/webhook-deliveries/replay',
        body,
      ),
    onSuccess: () => client.invalidateQueries({ queryKey: ['list', '/webhook-deliveries'] }),
  });
  return (
    <Dialog title="Send again by filter" close={close}>
      <p>
        Webhooks with status <strong>{status}</strong>
        {host && (
          <>
            , host <Text>{host}</Text>
          </>
        )}
        {reactor_id && <>, of this reactor</>}
        {from && (
          <>
            , from <Time at={from} />
          </>
        )}
        {to && (
          <>
            , up to <Time at={to} />
          </>
        )}
        .
      </p>
      {search.trace_id && (
        <p className="notice warn">
          The trace id is not part of it: open the delivery to send it alone.
        </p>
      )}
      {replay.data === undefined && (
        <>
          <Loaded query={counted} rows={1}>
            {(number) => (
              <p>
                <strong>{plural(number, 'webhook')}</strong> will be sent again, under the same
                webhook-id. {number >= replayLimit && `These are the newest ${count(replayLimit)}.`}
              </p>
            )}
          </Loaded>
          <ProblemBox error={replay.error} />
          <div className="row">
            <button
              type="button"
              className="primary"
              disabled={!counted.data || replay.isPending}
              onClick={() => replay.mutate()}
            >
              {replay.isPending ? 'Sending…' : `Send ${plural(counted.data ?? 0, 'webhook')} again`}
            </button>
            <button type="button" onClick={close}>
              Cancel
            </button>
          </div>
        </>
      )}
      {replay.data !== undefined && (
        <>
          <p className="notice good" role="status">
            <strong>{plural(replay.data.queued, 'webhook')}</strong> will be sent again.
            {replay.data.gone > 0 &&
              ` ${count(replay.data.gone)} cannot: a token in the body is gone or may not be used now.`}
          </p>
          <button type="button" onClick={close}>
            Close
          </button>
        </>
      )}
    </Dialog>
  );
}
