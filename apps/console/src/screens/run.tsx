import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { get, send } from '../api';
import type { Formula, ProxyResource, Reactor, RunDetails } from '../api-types';
import { milliseconds, plural, relativeTime } from '../format';
import { CodeListing } from '../parts/code-listing';
import { ConsoleLines } from '../parts/console-lines';
import { Dialog } from '../parts/dialog';
import { Facts, Id, Status, Time } from '../parts/facts';
import { Screen, Section } from '../parts/screen';
import { Loaded, ProblemBox } from '../parts/states';
import { Text } from '../parts/text';
import { UploadedCode } from '../parts/uploaded-code';
import { useMay } from '../session';
import { explain, positionInWords } from '../why';

const waitingMs = 1000;

export function RunScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  const run = useQuery({
    queryKey: ['run', id],
    queryFn: ({ signal }) => get<RunDetails>(`/runs/${encodeURIComponent(id)}`, signal),
    refetchInterval: ({ state }) =>
      state.data && ['completed', 'failed'].includes(state.data.status) ? false : waitingMs,
  });
  return (
    <Screen
      title="Run"
      about={run.data && <ResourceOf run={run.data} />}
      actions={
        <>
          {run.data && <Rerun run={run.data} />}
          {run.data && <Edit run={run.data} />}
        </>
      }
    >
      <Loaded query={run} rows={14}>
        {(run) => (
          <>
            <Ending run={run} />
            <nav className="elsewhere" aria-label="Of this run">
              <Link to="/calls" search={{ trace_id: run.trace_id }}>
                Call
              </Link>
              <Link to="/audit" search={{ trace_id: run.trace_id }}>
                Audit lines
              </Link>
              {run.webhook && <Link to={`/deliveries/${run.id}`}>Webhook</Link>}
              {run.rerun_of && <Link to={`/runs/${run.rerun_of}`}>The run that it repeats</Link>}
            </nav>
            <CodeOf run={run} />
            <Section title="Output">
              <ConsoleLines lines={run.lines} />
            </Section>
            {run.stack && run.stack.length > 0 && (
              <Section title="Stack">
                <ol className="stack">
                  {run.stack.map((call, index) => (
                    <li key={index}>
                      <code>
                        <Text>{call.function ?? 'anonymous'}</Text>
                      </code>{' '}
                      <span className="quiet">{positionInWords(call)}</span>
                    </li>
                  ))}
                </ol>
              </Section>
            )}
            <Section title="What is known of it">
              <RunFacts run={run} />
            </Section>
          </>
        )}
      </Loaded>
    </Screen>
  );
}

const pathOf = ({ kind, resource_id }: RunDetails) =>
  `${kind === 'reactor' ? '/reactors' : '/proxies'}/${resource_id}`;

function ResourceOf({ run }: { run: RunDetails }) {
  return (
    <>
      {run.kind === 'reactor' ? `Reactor, ${run.mode}` : `Transform of the ${run.mode}`}{' '}
      <Id value={run.resource_id} to={pathOf(run)} what="id" />
    </>
  );
}

function Ending({ run }: { run: RunDetails }) {
  if (run.status === 'completed') {
    return (
      <p className="notice good">
        <strong>Completed</strong> in {milliseconds(run.duration_ms)}.
      </p>
    );
  }
  if (run.status !== 'failed') {
    return (
      <p className="notice" role="status">
        <strong>
          {run.status === 'held'
            ? 'Held: the operator decides, after a restore.'
            : `It is ${run.status}.`}
        </strong>{' '}
        Accepted {relativeTime(run.created_at)}.
      </p>
    );
  }
  if (run.outcome === 'cancelled') {
    return (
      <p className="notice">
        <strong>Cancelled:</strong> the caller left before the code had ended.
      </p>
    );
  }
  const { why, todo } = explain(run.outcome ?? '');
  return (
    <div className="notice bad">
      <strong>
        Failed, <code>{run.outcome}</code>
        {run.position && `, at ${positionInWords(run.position)}`}
        {run.position?.source && (
          <>
            {' '}
            of <Text>{run.position.source}</Text>
          </>
        )}
        .
      </strong>{' '}
      {why}
      {run.message && (
        <p className="mono">
          <Text>{run.message}</Text>
        </p>
      )}
      <p>
        {run.outcome === 'reactor_error' && !run.code_sha256 ? 'The line is marked below.' : todo}
      </p>
    </div>
  );
}

/** The code of that moment where it is kept; else that of now. Each says which one it is. */
function CodeOf({ run }: { run: RunDetails }) {
  const mayRead = useMay(run.kind === 'reactor' ? 'reactor:read' : 'proxy:read');
  const now = useQuery({
    queryKey: ['code', run.kind, run.resource_id, run.mode],
    queryFn: ({ signal }) => codeOfNow(run, signal),
    enabled: mayRead && run.code === undefined && run.code_sha256 === undefined,
  });
  const code = run.code ?? now.data?.code;
  if (!mayRead && code === undefined) return null;
  if (run.code_sha256 !== undefined) {
    return (
      <Section title="Code">
        <UploadedCode sha256={run.code_sha256} />
      </Section>
    );
  }
  return (
    <Section title="Code">
      {code !== undefined ? (
        <>
          <WhichCode run={run} changedAt={now.data?.changedAt} />
          <CodeListing code={code} failed={run.position} />
        </>
      ) : now.error ? (
        <p className="empty">The code is gone: its resource was deleted.</p>
      ) : (
        <div className="loading" role="status" aria-label="Loading">
          <span />
          <span />
          <span />
        </div>
      )}
    </Section>
  );
}

/** Says where the code that is shown is not the one that ran, or not the one that runs now. */
function WhichCode({ run, changedAt }: { run: RunDetails; changedAt: string | undefined }) {
  if (run.code !== undefined) {
    if (run.code_changed !== true) return null;
    return (
      <p className="notice warn">
        <strong>The code has changed since.</strong> This is the code that ran. In the editor is
        that of now, where the line may be another one.
      </p>
    );
  }
  const isChanged =
    run.code_changed ?? (changedAt !== undefined && changedAt > (run.started_at ?? run.created_at));
  if (!isChanged) return null;
  return (
    <p className="notice warn">
      <strong>The code that ran is not kept.</strong> This is the code of now
      {changedAt !== undefined && (
        <>
          , changed <Time at={changedAt} />
        </>
      )}
      . The marked line may be another one.
    </p>
  );
}

async function codeOfNow(run: RunDetails, signal: AbortSignal) {
  if (run.kind === 'transform') {
    const proxy = await get<ProxyResource>(`/proxies/${run.resource_id}`, signal);
    const transform = run.mode === 'request' ? proxy.request_transform : proxy.response_transform;
    return { code: transform?.code ?? '', changedAt: proxy.modified_at };
  }
  const { formula } = await get<Reactor>(`/reactors/${run.resource_id}`, signal);
  const { code, modified_at } = await get<Formula>(`/reactor-formulas/${formula.id}`, signal);
  return { code, changedAt: modified_at };
}

function Edit({ run }: { run: RunDetails }) {
  const mayEdit = useMay(run.kind === 'reactor' ? 'reactor:update' : 'proxy:update');
  // In other code it would be another line.
  const search =
    run.position && run.code_changed !== true ? { line: String(run.position.line) } : {};
  return (
    <Link className="button" to={pathOf(run)} search={search}>
      {mayEdit ? 'Open in the editor' : 'Open'}
    </Link>
  );
}

/** Repeats a failed async run with the code of now, and says before what will happen again. */
function Rerun({ run }: { run: RunDetails }) {
  const mayUse = useMay('token:use');
  const [isAsking, setAsking] = useState(false);
  const [withCallback, setWithCallback] = useState(false);
  const navigate = useNavigate();
  const rerun = useMutation({
    mutationFn: () =>
      send<{ async_request_id: string }>('POST', `/runs/${run.id}/rerun`, {
        callback: withCallback,
      }),
    onSuccess: ({ async_request_id }) => navigate({ to: `/runs/${async_request_id}` }),
  });
  if (run.mode !== 'async' || run.status !== 'failed' || !mayUse) return null;
  const isKept =
    run.arguments_kept_until !== undefined && Date.parse(run.arguments_kept_until) > Date.now();
  if (!isKept) {
    return <span className="quiet">Its arguments are gone: it cannot be run again.</span>;
  }
  const tokens = run.token_ids?.length ?? 0;
  return (
    <>
      <button type="button" onClick={() => setAsking(true)}>
        Run again…
      </button>
      {isAsking && (
        <Dialog title="Run it again" close={() => setAsking(false)}>
          <p>The code of now runs with the arguments of this run, as you. What happens again:</p>
          <ul>
            <li>
              {tokens === 0
                ? 'No token is opened.'
                : `${plural(tokens, 'token')} will be opened and used.`}
            </li>
            <li>All that the code does outside: charges, mails, requests to others.</li>
            <li>
              {withCallback
                ? 'The result is sent to the same callback URL.'
                : 'Nobody is sent the result.'}
            </li>
          </ul>
          {run.webhook && (
            <label className="tick">
              <input
                type="checkbox"
                checked={withCallback}
                onChange={({ target }) => setWithCallback(target.checked)}
              />
              Send the result to the same callback URL
            </label>
          )}
          <p className="quiet">
            The arguments are kept until <Time at={run.arguments_kept_until} />.
          </p>
          <ProblemBox error={rerun.error} />
          <div className="row">
            <button
              type="button"
              className="primary"
              disabled={rerun.isPending}
              onClick={() => rerun.mutate()}
            >
              {rerun.isPending ? 'Starting…' : 'Run again'}
            </button>
            <button type="button" onClick={() => setAsking(false)}>
              Cancel
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

function RunFacts({ run }: { run: RunDetails }) {
  return (
    <Facts
      of={[
        ['Status', <Status key="" of={run.status} />],
        ['Answered', run.http_status],
        ['Accepted', <Time key="" at={run.created_at} />],
        ['Waited', milliseconds(run.queued_ms)],
        ['Took', milliseconds(run.duration_ms)],
        ['Attempt', run.attempt],
        [
          'Application',
          run.application_id && (
            <Id
              value={run.application_id}
              to={`/applications/${run.application_id}`}
              what="application id"
            />
          ),
        ],
        [
          'Arguments',
          run.argument_names && run.argument_names.length > 0 && (
            <code>
              <Text>{run.argument_names.join(', ')}</Text>
            </code>
          ),
        ],
        [
          'Tokens',
          run.token_ids && run.token_ids.length > 0 && (
            <details>
              <summary>{plural(run.token_ids.length, 'token')}</summary>
              {run.token_ids.map((id) => (
                <div key={id}>
                  <Id value={id} to={`/tokens/${encodeURIComponent(id)}`} what="token id" />
                </div>
              ))}
            </details>
          ),
        ],
        ['Webhook', run.webhook && <Status of={run.webhook.status} />],
        ['Trace id', <Id key="" value={run.trace_id} what="trace id" />],
        ['Run', <Id key="" value={run.id} what="run id" />],
      ]}
    />
  );
}
