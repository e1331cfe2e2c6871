import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useEffect, useId, useState } from 'react';
import { get, send } from '../api';
import type { Token } from '../api-types';
import { plural, relativeTime } from '../format';
import { Dialog } from '../parts/dialog';
import { Facts, Id, Time } from '../parts/facts';
import { Screen, Section } from '../parts/screen';
import { Loaded, ProblemBox } from '../parts/states';
import { Json, Text } from '../parts/text';
import { useSession } from '../session';

export function TokenScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { role } = useSession();
  const token = useQuery({
    queryKey: ['token', id],
    queryFn: ({ signal }) => get<Token>(`/tokens/${encodeURIComponent(id)}`, signal),
  });
  return (
    <Screen
      title="Token"
      about={token.data && <Text>{token.data.type.replaceAll('_', ' ')}</Text>}
      actions={<Link to="/tokens">All tokens</Link>}
    >
      <Loaded query={token} rows={10}>
        {(token) => (
          <>
            <TokenFacts token={token} />
            <Section title="Data" actions={role === 'admin' && <Reveal id={token.id} />}>
              {token.data === undefined && token.mask === undefined ? (
                <p className="empty">Nothing of it is shown: the token has no mask.</p>
              ) : (
                <Json value={token.data ?? token.mask} />
              )}
            </Section>
            <Section title="Metadata">
              {Object.keys(token.metadata ?? {}).length === 0 ? (
                <p className="empty">None.</p>
              ) : (
                <Facts
                  label="Metadata"
                  of={Object.entries(token.metadata ?? {}).map(([name, value]) => [
                    name,
                    <Text key="">{value}</Text>,
                  ])}
                />
              )}
            </Section>
            <nav className="elsewhere" aria-label="Of this token">
              <Link to="/audit" search={{ entity_id: token.id }}>
                Audit lines
              </Link>
            </nav>
          </>
        )}
      </Loaded>
    </Screen>
  );
}

function TokenFacts({ token }: { token: Token }) {
  return (
    <Facts
      of={[
        ['Id', <Id key="" value={token.id} what="token id" />],
        [
          'Container',
          <code key="">
            <Text>{token.containers.join(', ')}</Text>
          </code>,
        ],
        ['Made', <Time key="" at={token.created_at} />],
        ['Changed', token.modified_at !== token.created_at && <Time at={token.modified_at} />],
        [
          'Expires',
          token.expires_at ? (
            <>
              <Time at={token.expires_at} />{' '}
              <small className="quiet">{relativeTime(token.expires_at)}</small>
            </>
          ) : (
            'never'
          ),
        ],
        ['May go to', <Text key="">{token.destinations?.join(', ') ?? 'anywhere'}</Text>],
        ['Fingerprint', token.fingerprint && <Id value={token.fingerprint} what="fingerprint" />],
        [
          'Search indexes',
          token.search_indexes && plural(token.search_indexes.length, 'expression'),
        ],
      ]}
    />
  );
}

interface Revealed {
  data: unknown;
  shown_seconds: number;
}

/** Shows the value for a minute to an admin who says why. The reason goes into the audit log. */
function Reveal({ id }: { id: string }) {
  const [isAsking, setAsking] = useState(false);
  const [reason, setReason] = useState('');
  const [goneAt, setGoneAt] = useState(0);
  const [secondsLeft, setSecondsLeft] = useState(0);
  const field = useId();
  const reveal = useMutation({
    mutationFn: () => send<Revealed>('POST', '/console/reveals', { token_id: id, reason }),
    onSuccess: ({ shown_seconds }) => {
      setGoneAt(Date.now() + shown_seconds * 1000);
      setSecondsLeft(shown_seconds);
    },
    // Nothing of it is kept beside the time that it is shown.
    gcTime: 0,
  });
  const { reset } = reveal;
  const close = () => {
    reset();
    setReason('');
    setAsking(false);
  };
  const isShown = reveal.data !== undefined;
  useEffect(() => {
    if (!isShown) return;
    // By the clock: a tab in the background has few ticks, and a machine that sleeps has none.
    const tick = () => setSecondsLeft(Math.ceil((goneAt - Date.now()) / 1000));
    const timer = setInterval(tick, 1000);
    return () => clearInterval(timer);
  }, [isShown, goneAt]);
  useEffect(() => {
    if (isShown && secondsLeft <= 0) close();
  }, [isShown, secondsLeft]);

  return (
    <>
      <button type="button" onClick={() => setAsking(true)}>
        Reveal…
      </button>
      {isAsking && (
        <Dialog title="Reveal" close={close}>
          {reveal.data === undefined ? (
            <form
              className="stacked"
              onSubmit={(event) => {
                event.preventDefault();
                reveal.mutate();
              }}
            >
              <p>
                The value is shown for 60 seconds. Your name and your reason are written into the
                audit log.
              </p>
              <label htmlFor={field}>Reason</label>
              <input
                id={field}
                required
                maxLength={500}
                autoComplete="off"
                value={reason}
                onChange={({ target }) => setReason(target.value)}
              />
              <ProblemBox error={reveal.error} />
              <div className="row">
                <button type="submit" className="primary" disabled={reveal.isPending}>
                  {reveal.isPending ? 'Asking…' : 'Reveal'}
                </button>
                <button type="button" onClick={close}>
                  Cancel
                </button>
              </div>
            </form>
          ) : (
            <>
              <p role="timer">Gone in {plural(secondsLeft, 'second')}.</p>
              <Json value={reveal.data.data} />
              <button type="button" onClick={close}>
                Hide now
              </button>
            </>
          )}
        </Dialog>
      )}
    </>
  );
}
