import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { ask, get, send, type Answer } from '../api';
import type { Application, ApplicationKey, Rule, Token } from '../api-types';
import { SaveBar, useDraft, useVersion } from '../editor/draft';
import { relativeTime } from '../format';
import { Dialog } from '../parts/dialog';
import { Id, Time } from '../parts/facts';
import { Choice, TextField } from '../parts/fields';
import { Screen, Section } from '../parts/screen';
import { Loaded, ProblemBox } from '../parts/states';
import { Table } from '../parts/table';
import { Json, Text } from '../parts/text';
import { useMay } from '../session';

export function ApplicationScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  const path = `/applications/${encodeURIComponent(id)}`;
  const application = useVersion<Application>(path);
  const navigate = useNavigate();
  const mayDelete = useMay('application:delete');
  const body = application.data?.body;
  return (
    <Screen
      title="Application"
      about={body && <Text>{body.name}</Text>}
      actions={
        <>
          <Link to="/calls" search={{ application_id: id }}>
            Calls
          </Link>
          {mayDelete && body && (
            <Delete
              what="application"
              name={body.name}
              warning="All its keys stop at once. What acts as it fails."
              remove={() => ask(path, { method: 'DELETE', ifMatch: application.data?.etag })}
              done={() => void navigate({ to: '/applications' })}
            />
          )}
        </>
      }
    >
      <Loaded query={application} rows={20}>
        {(first) => (
          <>
            <Settings key={first.body.id} first={first} path={path} />
            <Rights of={first.body} />
            <Decision path={path} />
            <Keys path={path} />
          </>
        )}
      </Loaded>
    </Screen>
  );
}

function Settings({ first, path }: { first: Answer<Application>; path: string }) {
  const mayEdit = useMay('application:update');
  const draft = useDraft<Application>(path, first);
  const { now, save } = draft;
  const field = useId();
  return (
    <Section title="Settings">
      <div className="panel">
        <div className="fields">
          <TextField
            label="Name"
            value={now.name}
            isReadOnly={!mayEdit}
            change={(name) => draft.change('name', name)}
          />
          <div className="field">
            <label htmlFor={field}>Its keys stop at</label>
            <input
              id={field}
              type="datetime-local"
              readOnly={!mayEdit}
              value={now.expires_at ? asLocal(now.expires_at) : ''}
              onChange={({ target }) =>
                draft.change(
                  'expires_at',
                  target.value ? new Date(target.value).toISOString() : null,
                )
              }
            />
            <span className="quiet">
              {now.expires_at ? relativeTime(now.expires_at) : 'Never, if empty.'}
            </span>
          </div>
          <div className="field">
            <span>Type</span>
            <span>{now.type}</span>
          </div>
          <div className="field">
            <span>Id</span>
            <Id value={now.id} what="application id" />
          </div>
        </div>
      </div>
      <ProblemBox error={save.error} />
      <SaveBar draft={draft} what="application" mayEdit={mayEdit} />
    </Section>
  );
}

function asLocal(iso: string): string {
  const date = new Date(iso);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** In the order in which they decide: the first rule that covers a token, then the permissions. */
function Rights({ of: { permissions, rules } }: { of: Application }) {
  const inOrder = [...rules].sort(
    (one, other) => one.priority - other.priority || other.container.length - one.container.length,
  );
  return (
    <Section title="Permissions and rules">
      <Table<Rule>
        caption="The first rule that covers a token decides; permissions decide where none does."
        columns={[
          { head: 'Priority', cell: ({ priority }) => priority, isNumber: true },
          {
            head: 'Container',
            cell: ({ container }) => (
              <code>
                <Text>{container}</Text>
              </code>
            ),
          },
          { head: 'Shows', cell: ({ transform }) => transform },
          { head: 'For', cell: ({ permissions }) => permissions.join(', ') },
          { head: 'Description', cell: ({ description }) => <Text>{description}</Text> },
        ]}
        rows={inOrder}
        keyOf={(rule) => JSON.stringify(rule)}
        empty="There are no rules: the permissions alone decide."
      />
      <p className="more">
        <span>
          <strong>For all containers:</strong>{' '}
          {permissions.length === 0 ? 'nothing' : permissions.join(', ')}
        </span>
      </p>
    </Section>
  );
}

interface Decided {
  allowed: boolean;
  transform: 'reveal' | 'mask' | 'redact' | null;
  by: 'rule' | 'permission' | null;
  rule?: Rule;
  container: string;
  reason: string;
  shown?: Token;
}

const asked = ['token:read', 'token:search', 'token:use', 'token:update', 'token:delete'].map(
  (permission) => [permission, permission] as const,
);

function Decision({ path }: { path: string }) {
  const [token, setToken] = useState('');
  const [permission, setPermission] = useState('token:read');
  const decision = useMutation({
    mutationFn: () =>
      send<Decided>('POST', `${path}/decisions`, { token_id: token.trim(), permission }),
  });
  return (
    <Section title="May it read a token?">
      <form
        className="panel"
        aria-label="Decision"
        onSubmit={(event) => {
          event.preventDefault();
          decision.mutate();
        }}
      >
        <div className="fields">
          <TextField label="Token id" value={token} change={setToken} />
          <Choice label="Permission" value={permission} choices={asked} change={setPermission} />
        </div>
        <div className="row">
          <button type="submit" disabled={decision.isPending || token.trim() === ''}>
            Ask
          </button>
          <span className="quiet">Answered by the code that decides calls.</span>
        </div>
        <div aria-live="polite">
          <ProblemBox error={decision.error} />
          {decision.data && (
            <div className={`notice ${decision.data.allowed ? 'good' : 'bad'}`}>
              <strong>
                {decision.data.allowed ? `Yes${seen[decision.data.transform ?? ''] ?? ''}.` : 'No.'}
              </strong>{' '}
              <Text>{decision.data.reason}</Text>
              {decision.data.shown && (
                <>
                  <p>It would see:</p>
                  <Json value={decision.data.shown} />
                </>
              )}
            </div>
          )}
        </div>
      </form>
    </Section>
  );
}

const seen: Record<string, string> = {
  reveal: ', the data itself',
  mask: ', masked',
  redact: ', without its data',
};

function Keys({ path }: { path: string }) {
  const client = useQueryClient();
  const mayEdit = useMay('application:update');
  const queryKey = ['keys', path];
  const keys = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const answer = await get<ApplicationKey[] | { data: ApplicationKey[] }>(
        `${path}/keys`,
        signal,
      );
      return Array.isArray(answer) ? answer : answer.data;
    },
  });
  const refresh = () => client.invalidateQueries({ queryKey });
  const make = useMutation({
    mutationFn: () => send<{ id: string; key?: string }>('POST', `${path}/keys`),
    onSuccess: refresh,
    gcTime: 0,
  });
  return (
    <Section
      title="Keys"
      actions={
        mayEdit && (
          <button type="button" disabled={make.isPending} onClick={() => make.mutate()}>
            Make a key
          </button>
        )
      }
    >
      <ProblemBox error={make.error} />
      {make.data && (
        <Dialog title="A new key" close={() => make.reset()}>
          {make.data.key === undefined ? (
            <p>The key was made. Its text is not shown here.</p>
          ) : (
            <>
              <p>Keep it now: it is shown only this once.</p>
              <p className="notice">
                <Id value={make.data.key} what="key" />
              </p>
            </>
          )}
          <button type="button" onClick={() => make.reset()}>
            Done
          </button>
        </Dialog>
      )}
      <Loaded query={keys} rows={2}>
        {(keys) => (
          <Table<ApplicationKey>
            caption="Keys"
            isCaptionHidden
            columns={[
              { head: 'Key', cell: ({ id }) => <Id value={id} what="key id" /> },
              { head: 'Made', cell: ({ created_at }) => <Time at={created_at} /> },
              {
                head: 'Last used',
                cell: ({ last_used_at }) =>
                  last_used_at ? (
                    <>
                      <Time at={last_used_at} />{' '}
                      <small className="quiet">{relativeTime(last_used_at)}</small>
                    </>
                  ) : (
                    <span className="quiet">never</span>
                  ),
              },
              ...(mayEdit
                ? [
                    {
                      head: 'Delete',
                      cell: ({ id, last_used_at }: ApplicationKey) => (
                        <Delete
                          what="key"
                          name={id.slice(0, 8)}
                          warning={
                            last_used_at
                              ? `It was used ${relativeTime(last_used_at)}. Callers with it stop at once.`
                              : 'It was never used.'
                          }
                          remove={() => ask(`${path}/keys/${id}`, { method: 'DELETE' })}
                          done={() => void refresh()}
                        />
                      ),
                    },
                  ]
                : []),
            ]}
            rows={keys}
            keyOf={({ id }) => id}
            empty="It has no key, so nobody can call with it."
          />
        )}
      </Loaded>
    </Section>
  );
}

/** Deletes what somebody has named: a click alone is too easy. */
function Delete({
  what,
  name,
  warning,
  remove,
  done,
}: {
  what: string;
  name: string;
  warning: string;
  remove: () => Promise<unknown>;
  done: () => void;
}) {
  const [isAsking, setAsking] = useState(false);
  const [typed, setTyped] = useState('');
  const removal = useMutation({
    mutationFn: remove,
    onSuccess: () => {
      setAsking(false);
      done();
    },
  });
  return (
    <>
      <button type="button" className="danger" onClick={() => setAsking(true)}>
        Delete…
        <span className="unseen">
          {' '}
          {what} {name}
        </span>
      </button>
      {isAsking && (
        <Dialog title={`Delete this ${what}`} close={() => setAsking(false)}>
          <form
            className="stacked"
            onSubmit={(event) => {
              event.preventDefault();
              if (typed === name) removal.mutate();
            }}
          >
            <p>{warning}</p>
            <p>
              Type{' '}
              <strong>
                <Text>{name}</Text>
              </strong>{' '}
              to confirm.
            </p>
            <TextField label="Name" value={typed} change={setTyped} />
            <ProblemBox error={removal.error} />
            <div className="row">
              <button
                type="submit"
                className="danger"
                disabled={typed !== name || removal.isPending}
              >
                {removal.isPending ? 'Deleting…' : 'Delete'}
              </button>
              <button type="button" onClick={() => setAsking(false)}>
                Cancel
              </button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  );
}
