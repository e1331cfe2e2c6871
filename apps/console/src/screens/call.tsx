import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { get } from '../api';
import type { Call, PhaseMember } from '../api-types';
import { bytes, milliseconds, plural } from '../format';
import { Facts, Id, Status, Time } from '../parts/facts';
import { Screen, Section } from '../parts/screen';
import { Loaded } from '../parts/states';
import { Text } from '../parts/text';
import { explain } from '../why';

export function CallScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  const call = useQuery({
    queryKey: ['call', id],
    queryFn: ({ signal }) => get<Call>(`/calls/${encodeURIComponent(id)}`, signal),
  });
  return (
    <Screen
      title="Call"
      about={call.data && <Text>{`${call.data.method} ${call.data.path}`}</Text>}
      actions={<Link to="/calls">All calls</Link>}
    >
      <Loaded query={call} rows={14}>
        {(call) => (
          <>
            <Answer call={call} />
            <Elsewhere call={call} />
            <Section title="Timeline">
              <Timeline call={call} />
            </Section>
            <Section title="What is known of it">
              <CallFacts call={call} />
            </Section>
          </>
        )}
      </Loaded>
    </Screen>
  );
}

/** How it ended and, where it failed, why in plain words and what to do. */
function Answer({ call }: { call: Call }) {
  const { outcome, status, destination_status, code, cause } = call;
  if (outcome === 'completed') {
    return (
      <p className="notice good">
        <strong>Completed</strong> with {status} in {milliseconds(call.phases?.ended_ms)}.
      </p>
    );
  }
  if (outcome === 'destination_error') {
    return (
      <div className="notice warn">
        <strong>The destination answered {destination_status ?? status}.</strong> Its answer was
        passed on as it is. <p>Look into the log of the destination at this time.</p>
      </div>
    );
  }
  if (outcome === 'left') {
    return (
      <div className="notice">
        <strong>The caller left before the end of the answer.</strong>{' '}
        <p>
          Compare its time-out with how long the call took: {milliseconds(call.phases?.ended_ms)}.
        </p>
      </div>
    );
  }
  if (code === undefined) {
    return (
      <div className="notice bad">
        <strong>The answer broke off</strong> after its first byte, so that half of it is not taken
        for a whole one. <p>Look into the log of the destination at this time.</p>
      </div>
    );
  }
  const { why, todo } = explain(code, cause);
  return (
    <div className="notice bad">
      <strong>
        Failed{status === undefined ? '' : ` with ${status}`}, <code>{code}</code>.
      </strong>{' '}
      <Text>{why}</Text>
      <p>{todo}</p>
    </div>
  );
}

/** All that the same trace id names, each in one click. */
function Elsewhere({ call: { trace_id, run_id, transforms } }: { call: Call }) {
  const run = run_id ?? transforms?.request ?? transforms?.response;
  return (
    <nav className="elsewhere" aria-label="Of this call">
      {run !== undefined && <Link to={`/runs/${run}`}>Run</Link>}
      {trace_id !== undefined && (
        <>
          <Link to="/runs" search={{ trace_id }}>
            Runs
          </Link>
          <Link to="/audit" search={{ trace_id }}>
            Audit lines
          </Link>
        </>
      )}
      {run_id !== undefined && <Link to={`/deliveries/${run_id}`}>Webhook</Link>}
    </nav>
  );
}

interface Step {
  name: string;
  text: ReactNode;
  /** Milliseconds since the head of the request, where they are known. */
  ms?: number | undefined;
  state: 'done' | 'failed' | 'open';
}

function Timeline({ call }: { call: Call }) {
  const total = call.phases?.ended_ms ?? 0;
  let before = 0;
  return (
    <ol className="timeline">
      {stepsOf(call).map(({ name, text, ms, state }) => {
        const from = before;
        before = ms ?? before;
        return (
          <li key={name} className={state}>
            <span className="step">
              {name}
              {state === 'failed' && <span className="unseen">: failed</span>}
              {state === 'open' && <span className="unseen">: not reached</span>}
            </span>
            <span className="ms">{ms === undefined ? '' : milliseconds(ms)}</span>
            <Bar from={from} to={ms} total={total} />
            <span className="text">{text}</span>
          </li>
        );
      })}
    </ol>
  );
}

/** From the step before to this one: a picture of the numbers beside it. */
function Bar({ from, to, total }: { from: number; to: number | undefined; total: number }) {
  const percent = (ms: number) => (total === 0 ? 0 : Math.min(99, (ms / total) * 100));
  return (
    <svg className="bar" aria-hidden="true" width="100%" height="6">
      {to !== undefined && (
        <rect
          x={`${percent(from)}%`}
          width={`${Math.max(percent(to) - percent(from), 1)}%`}
          height="6"
          rx="2"
        />
      )}
    </svg>
  );
}

/** The phases of a cause, in the order in which a call goes through them. */
const order = ['lookup', 'name', 'connect', 'tls', 'send', 'first_byte', 'body'];

function stepsOf(call: Call): Step[] {
  const { phases = {}, cause, code, outcome, transforms, run_id, destination_status } = call;
  const failedAt = cause?.phase;
  const isDecided = phases.decided_ms !== undefined;
  const isAsked = phases.asked_ms !== undefined;
  const isWhole = outcome === 'completed' || outcome === 'destination_error';
  const stateAt = (phase: string): Step['state'] => {
    if (failedAt === phase) return 'failed';
    if (phases.answered_ms !== undefined) return 'done';
    return order.indexOf(failedAt ?? '') > order.indexOf(phase) ? 'done' : 'open';
  };
  const said = (phase: string, otherwise?: ReactNode) =>
    failedAt === phase && cause ? <Text>{cause.reason}</Text> : otherwise;
  const stepAt = (name: string, phase: string, member: PhaseMember, text?: ReactNode): Step => ({
    name,
    text: said(phase, text),
    ms: phases[member],
    state: stateAt(phase),
  });
  const transform = (name: string, run: string | undefined, isFailed: boolean): Step[] =>
    run === undefined && !isFailed
      ? []
      : [
          {
            name,
            text: <RunOf id={run}>{isFailed && said('transform')}</RunOf>,
            state: isFailed ? 'failed' : 'done',
          },
        ];

  const request: Step[] = [
    {
      name: 'Request',
      text: (
        <>
          <Time at={call.started_at} />, {bytes(call.request_bytes)}
        </>
      ),
      state: 'done',
    },
    { name: 'Key', text: <Key call={call} />, state: 'done' },
    {
      name: 'Decision',
      text: said('lookup', isDecided ? 'may call, and had its place' : 'refused'),
      ms: phases.decided_ms,
      state: isDecided && failedAt !== 'lookup' ? 'done' : 'failed',
    },
    { name: 'Tokens', text: <Tokens ids={call.token_ids} />, state: isDecided ? 'done' : 'open' },
  ];
  const ownCode: Step[] =
    run_id === undefined
      ? []
      : [
          {
            name: 'Code',
            text: <RunOf id={run_id} />,
            state: code === undefined ? 'done' : 'failed',
          },
        ];
  const destination: Step[] = call.path.startsWith('/proxy')
    ? [
        ...transform(
          'Request transform',
          transforms?.request,
          failedAt === 'transform' && !isAsked,
        ),
        { name: 'Request made', text: '', ms: phases.asked_ms, state: isAsked ? 'done' : 'open' },
        stepAt('DNS', 'name', 'name_ms'),
        stepAt('Connect', 'connect', 'connected_ms'),
        stepAt('TLS', 'tls', 'tls_ms'),
        stepAt('Sent', 'send', 'sent_ms'),
        stepAt(
          'First byte',
          'first_byte',
          'answered_ms',
          destination_status !== undefined && `the destination answered ${destination_status}`,
        ),
        ...transform('Answer transform', transforms?.response, failedAt === 'transform' && isAsked),
      ]
    : [];
  const answer: Step = {
    name: 'Last byte',
    text: said(
      'body',
      <>
        {call.status === undefined ? 'no answer' : `answered ${call.status}`},{' '}
        {bytes(call.answer_bytes)}
      </>,
    ),
    ms: phases.ended_ms,
    // An error of ours is an answer, and whole: what failed is marked above.
    state: isWhole || (code !== undefined && failedAt !== 'body') ? 'done' : 'failed',
  };
  return [...request, ...ownCode, ...destination, answer];
}

function RunOf({ id, children }: { id: string | undefined; children?: ReactNode }) {
  return (
    <>
      {children}{' '}
      {id !== undefined && (
        <>
          run <Id value={id} to={`/runs/${id}`} what="run id" />
        </>
      )}
    </>
  );
}

function Key({ call: { application_id, count } }: { call: Call }) {
  if (application_id !== undefined) {
    return (
      <Id value={application_id} to={`/applications/${application_id}`} what="application id" />
    );
  }
  return count > 1 ? 'those of several callers' : 'none: an anonymous call';
}

function Tokens({ ids }: { ids: readonly string[] }) {
  if (ids.length === 0) return 'none used';
  return (
    <details>
      <summary>{plural(ids.length, 'token')}</summary>
      <ul className="plain">
        {ids.map((id) => (
          <li key={id}>
            <Id value={id} to={`/tokens/${encodeURIComponent(id)}`} what="token id" />
          </li>
        ))}
      </ul>
    </details>
  );
}

function CallFacts({ call }: { call: Call }) {
  return (
    <Facts
      of={[
        ['Outcome', <Status key="" of={call.outcome} />],
        ['Status', call.status],
        ["Destination's status", call.destination_status],
        [
          'Proxy',
          call.proxy_id && (
            <Id value={call.proxy_id} to={`/proxies/${call.proxy_id}`} what="proxy id" />
          ),
        ],
        [
          'Reactor',
          call.reactor_id && (
            <Id value={call.reactor_id} to={`/reactors/${call.reactor_id}`} what="reactor id" />
          ),
        ],
        ['Trace id', call.trace_id && <Id value={call.trace_id} what="trace id" />],
        ['Call', <Id key="" value={call.id} what="call id" />],
        ['Stands for', call.count > 1 && plural(call.count, 'call')],
      ]}
    />
  );
}
