import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { get, send } from '../api';
import type { Attempt, Delivery } from '../api-types';
import { milliseconds } from '../format';
import { Facts, Id, Status, Time } from '../parts/facts';
import { Screen, Section } from '../parts/screen';
import { Loaded, ProblemBox } from '../parts/states';
import { Table } from '../parts/table';
import { Text } from '../parts/text';
import { useMay } from '../session';
import { causeInWords, explain } from '../why';

const refreshMs = 3000;

export function DeliveryScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  const path = `/webhook-deliveries/${encodeURIComponent(id)}`;
  const client = useQueryClient();
  const mayReplay = useMay('reactor:update');
  const delivery = useQuery({
    queryKey: ['delivery', id],
    queryFn: ({ signal }) => get<Delivery>(path, signal),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? refreshMs : false),
  });
  const replay = useMutation({
    mutationFn: () => send('POST', `${path}/replay`),
    onSuccess: () => client.invalidateQueries({ queryKey: ['delivery', id] }),
  });
  const isPending = delivery.data?.status === 'pending';
  return (
    <Screen
      title="Delivery"
      about={delivery.data && <Text>{delivery.data.host}</Text>}
      actions={
        mayReplay &&
        delivery.data &&
        (isPending || delivery.data.replayable) && (
          <button type="button" disabled={replay.isPending} onClick={() => replay.mutate()}>
            {isPending ? 'Send now' : 'Send again'}
          </button>
        )
      }
    >
      <div role="status">
        {replay.isSuccess && (
          <p className="notice good">It is sent now, under the same webhook-id.</p>
        )}
      </div>
      <ProblemBox error={replay.error} />
      <Loaded query={delivery} rows={10}>
        {(delivery) => (
          <>
            <Ending of={delivery} />
            <nav className="elsewhere" aria-label="Of this delivery">
              <Link to={`/runs/${delivery.run_id}`}>Run</Link>
              {delivery.reactor_id && <Link to={`/reactors/${delivery.reactor_id}`}>Reactor</Link>}
            </nav>
            <Section title="Attempts">
              <Table<Attempt>
                caption="Attempts, the oldest first"
                isCaptionHidden
                columns={[
                  { head: 'At', cell: ({ at }) => <Time at={at} /> },
                  { head: 'Outcome', cell: ({ outcome }) => <Status of={outcome} /> },
                  { head: 'Answered', cell: ({ status }) => status ?? '–', isNumber: true },
                  { head: 'Took', cell: ({ ms }) => milliseconds(ms), isNumber: true },
                  { head: 'Why', cell: (attempt) => <Why of={attempt} /> },
                ]}
                rows={delivery.attempts}
                keyOf={({ at, ms }) => `${at} ${ms}`}
                empty="There was no attempt yet."
              />
            </Section>
            <Section title="What is known of it">
              <Facts
                of={[
                  ['Status', <Status key="" of={delivery.status} />],
                  ['Host', <Text key="">{delivery.host}</Text>],
                  ['Made', <Time key="" at={delivery.created_at} />],
                  [
                    'Next attempt',
                    delivery.next_attempt_at && <Time at={delivery.next_attempt_at} />,
                  ],
                  ['Ended', delivery.ended_at && <Time at={delivery.ended_at} />],
                  ['Body', delivery.replayable ? 'still there' : !isPending && 'erased'],
                  ['webhook-id', <Id key="" value={delivery.webhook_id} what="webhook id" />],
                ]}
              />
            </Section>
          </>
        )}
      </Loaded>
    </Screen>
  );
}

function Ending({ of: { status, outcome, attempts } }: { of: Delivery }) {
  if (status === 'delivered') return <p className="notice good">Delivered.</p>;
  if (status === 'pending') {
    const last = attempts.at(-1);
    return (
      <p className="notice">
        <strong>It waits for {last === undefined ? 'its first' : 'its next'} attempt.</strong>
      </p>
    );
  }
  if (status === 'held') {
    return <p className="notice warn">Held: the operator decides, after a restore.</p>;
  }
  return (
    <p className="notice bad">
      <strong>Failed{outcome && `, ${outcome.replaceAll('_', ' ')}`}.</strong> The last attempt
      below says why. While its body is there, it can be sent again.
    </p>
  );
}

function Why({ of: { cause, outcome, status } }: { of: Attempt }) {
  if (cause) {
    return (
      <>
        <Text>{causeInWords(cause)}</Text> {explain('destination_unreachable', cause).todo}
      </>
    );
  }
  if (outcome === 'delivered') return <span className="quiet">–</span>;
  if (status === 410) return 'The receiver wants no more of it.';
  if (outcome === 'rejected')
    return 'Only an answer of 200 to 299 counts. Look into the log of the receiver.';
  if (outcome === 'timed_out') return 'No answer within 15 s.';
  return 'The address may not be reached from here.';
}
