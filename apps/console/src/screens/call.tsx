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

/** The phases of a cause, in the order in which a call goes through them. */
const order = ['lookup', 'name', 'connect', 'tls', 'send', 'first_byte', 'body'];

function Timeline({ call }: { call: Call }) {
  const steps = stepsOf(call);
  const total = call.phases?.ended_ms ?? 0;
  return (
    <ol className="timeline">
      {steps.map(({ name, text, ms, state }) => (
        <li key={name} className={state}>
          <span className="step">{name}</span>
          <span className="ms">{ms === undefined ? '' : milliseconds(ms)}</span>
          <Bar ms={ms} total={total} />
          <span className="text">{text}</span>
        </li>
      ))}
    </ol>
  );
}

/** How far the call had come by then: a picture of the number beside it. */
function Bar({ ms, total }: { ms: number | undefined; total: number }) {
  const width = ms === undefined || total === 0 ? 0 : Math.min(100, (ms / total) * 100);
  return (
    <svg className="bar" aria-hidden="true" width="100%" height="6">
      <rect width="100%" height="6" rx="3" className="track" />
      {ms !== undefined && <rect width={`${Math.max(width, 1)}%`} height="6" rx="3" />}
    </svg>
  );
}

function stepsOf(call: Call): Step[] {
  const { phases = {}, cause, code, transforms, token_ids, destination_status } = call;
  const isProxy = call.path.startsWith('/proxy');
  const failedAt = cause?.phase;
  const asked = phases.asked_ms !== undefined;
  const reached = (phase: string) => {
    if (failedAt === phase) return 'failed';
    if (phases.answered_ms !== undefined) return 'done';
    const failedStep = order.indexOf(failedAt ?? '');
    return failedStep > order.indexOf(phase) ? 'done' : 'open';
  };
  const step = (
    name: string,
    text: ReactNode,
    state: Step['state'],
    member?: PhaseMember,
  ): Step => ({
    name,
    text,
    state,
    ms: member && phases[member],
  });
  const reason = (phase: string, otherwise: ReactNode) =>
    failedAt === phase && cause ? <Text>{cause.reason}</Text> : otherwise;

  const decided = phases.decided_ms !== undefined;
  const steps: Step[] = [
    step(
      'Request',
      <>
        <Time at={call.started_at} />, {bytes(call.request_bytes)}
      </>,
      'done',
    ),
    step(
      'Key',
      call.application_id ? (
        <ApplicationOf id={call.application_id} />
      ) : (
        'none: an anonymous call, or several callers'
      ),
      'done',
    ),
    step(
      'Decision',
      decided ? 'may call, and had its place' : reason('lookup', code ? 'refused' : 'not reached'),
      decided ? 'done' : 'failed',
      'decided_ms',
    ),
    step('Tokens', <Tokens ids={token_ids} />, decided ? 'done' : 'open'),
  ];
  if (transforms?.request || (failedAt === 'transform' && !asked)) {
    steps.push(
      transformStep(
        'Request transform',
        transforms?.request,
        failedAt === 'transform' && !asked,
        reason,
      ),
    );
  }
  if (call.run_id) {
    steps.push(
      step(
        'Code',
        <>
          run <Id value={call.run_id} to={`/runs/${call.run_id}`} what="run id" />
        </>,
        failedAt === 'transform' || code?.startsWith('reactor_') ? 'failed' : 'done',
      ),
    );
  }
  if (isProxy) {
    steps.push(
      step('DNS', reason('name', ''), reached('name'), 'name_ms'),
      step(
        'Connect',
        reason('connect', <Place cause={cause} />),
        reached('connect'),
        'connected_ms',
      ),
      step('TLS', reason('tls', ''), reached('tls'), 'tls_ms'),
      step('Request sent', reason('send', ''), reached('send'), 'asked_ms'),
      step(
        'First byte',
        reason(
          'first_byte',
          destination_status === undefined ? '' : `the destination answered ${destination_status}`,
        ),
        reached('first_byte'),
        'answered_ms',
      ),
    );
    if (transforms?.response || (failedAt === 'transform' && asked)) {
      steps.push(
        transformStep(
          'Answer transform',
          transforms?.response,
          failedAt === 'transform' && asked,
          reason,
        ),
      );
    }
  }
  const isWhole = call.outcome === 'completed' || call.outcome === 'destination_error';
  steps.push(
    step(
      'Last byte',
      reason(
        'body',
        <>
          {call.status === undefined ? 'no answer' : `answered ${call.status}`},{' '}
          {bytes(call.answer_bytes)}
        </>,
      ),
      isWhole ? 'done' : 'failed',
      'ended_ms',
    ),
  );
  return steps;
}

function transformStep(
  name: string,
  run: string | undefined,
  isFailed: boolean,
  reason: (phase: string, otherwise: ReactNode) => ReactNode,
): Step {
  return {
    name,
    state: isFailed ? 'failed' : 'done',
    text: (
      <>
        {isFailed && reason('transform', '')}{' '}
        {run && (
          <>
            run <Id value={run} to={`/runs/${run}`} what="run id" />
          </>
        )}
      </>
    ),
  };
}

function Place({ cause }: { cause: Call['cause'] }) {
  if (cause?.port === undefined) return null;
  return (
    <Text>
      {cause.address === undefined ? `port ${cause.port}` : `${cause.address}, port ${cause.port}`}
    </Text>
  );
}

const ApplicationOf = ({ id }: { id: string }) => (
  <Id value={id} to={`/applications/${id}`} what="application id" />
);

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
