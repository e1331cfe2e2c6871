import { callOutcomes, callTokensMax, latencyBoundsMs } from '@glovebox/calls';
import { summaryEntriesMax } from '../calls/calls.service';
import {
  bucketsMax,
  newestFailures,
  overviewResourcesMax,
  shownProcessesMax,
} from '../overview/overview.dto';
import { pageEntriesMax } from './answer-bounds';
import {
  flag,
  instant,
  listOf,
  object,
  oneOf,
  ref,
  text,
  uuid,
  whole,
  type Schemas,
} from './schema';

const number = { type: 'number' };
const resource = {
  proxy_id: uuid,
  reactor_id: uuid,
};
const proxyId = '4a7e2f60-91c3-4d58-b7aa-3e1f0c9d8b21';
const time = '2026-01-31T12:00:00.000Z';

const counts = { calls: whole, failed: whole };
const figures = {
  p50_ms: {
    ...number,
    description:
      'Half of the calls took at most this long, within the accuracy of the classes of ' +
      '`GET /calls/summary`. 60000 stands for everything longer. Absent without calls.',
  },
  p95_ms: number,
};
const oldestDue = {
  oldest_due_at: { ...instant, description: 'Absent where nothing is overdue.' },
};

export const callAnswers: Schemas = {
  Overview: {
    ...object(
      {
        from: instant,
        to: instant,
        hours: whole,
        bucket_minutes: { ...whole, description: 'The length of a bucket of `series`.' },
        totals: object(counts, figures),
        resources: listOf(
          object(
            {
              resource: { ...text, description: 'The template of the path.' },
              calls: whole,
              failed: {
                ...whole,
                description: 'With the outcome `failed` or `destination_error`.',
              },
            },
            {
              ...resource,
              name: { ...text, description: 'Of the proxy or reactor, unless it was deleted.' },
              ...figures,
            },
          ),
          overviewResourcesMax,
        ),
        series: {
          ...listOf(object({ at: instant, ...counts }), bucketsMax),
          description: 'Every bucket of the time, the oldest first. The last is under way.',
        },
        waiting: object({
          counted_max: {
            ...whole,
            description: 'A number that is as large stands for it or more.',
          },
          runs: object({ pending: whole, running: whole, held: whole }, oldestDue),
          deliveries: object(
            {
              pending: whole,
              failing: { ...whole, description: 'Those of the pending whose last attempt failed.' },
              held: whole,
            },
            oldestDue,
          ),
        }),
        failures: {
          ...listOf(ref('Call'), newestFailures),
          description: 'The newest five calls that failed.',
        },
      },
      {
        truncated: flag,
        processes: {
          ...listOf(
            object({
              id: uuid,
              app: text,
              version: text,
              definition_lag: {
                ...whole,
                description: 'Changes of definitions that it knows of and has not applied.',
              },
              seen_at: instant,
            }),
            shownProcessesMax,
          ),
          description: 'Absent while nobody knows, because Redis does not answer.',
        },
        runners: {
          ...listOf(object({ id: uuid, version: text, level: whole }), shownProcessesMax),
          description:
            'Those that gateways and workers are connected to, with the level of their sandboxes.',
        },
      },
    ),
    example: {
      from: '2026-01-31T11:00:00.000Z',
      to: time,
      hours: 1,
      bucket_minutes: 1,
      totals: { calls: 3, failed: 1, p50_ms: 12.4, p95_ms: 48.1 },
      resources: [{ resource: '/proxy', proxy_id: proxyId, name: 'The bank', calls: 3, failed: 1 }],
      series: [{ at: '2026-01-31T11:00:00.000Z', calls: 3, failed: 1 }],
      waiting: {
        counted_max: 10_000,
        runs: { pending: 0, running: 1, held: 0 },
        deliveries: { pending: 2, failing: 1, held: 0, oldest_due_at: time },
      },
      failures: [],
      processes: [
        {
          ...{ id: '7f1d2c3b-4a59-4e68-8d77-9c0b1a2f3e4d', app: 'gateway', version: '0.1.0' },
          ...{ definition_lag: 0, seen_at: time },
        },
      ],
      runners: [{ id: '1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e5f', version: '0.1.0', level: 1 }],
    },
  },
  Call: {
    ...object(
      {
        id: uuid,
        method: text,
        path: {
          ...text,
          description: 'The template of the path. `*`: no operation took the call.',
        },
        outcome: {
          ...oneOf(callOutcomes),
          description:
            '`destination_error`: the destination answered 400 or more, and the caller got that. ' +
            '`left`: the caller left before its answer was complete.',
        },
        ended_at: instant,
        token_ids: {
          ...listOf(text, callTokensMax),
          description: 'Tokens that the call used, at most 100.',
        },
        count: { ...whole, description: 'The calls that this entry stands for.' },
      },
      {
        status: { ...whole, description: 'Absent if the caller left before an answer.' },
        destination_status: whole,
        code: { ...text, description: 'The code of the error.' },
        cause: {
          ...object(
            { phase: text, reason: text },
            { address: text, port: whole, destination_status: whole },
          ),
          description: 'Where the call failed, and why.',
        },
        application_id: {
          ...uuid,
          description: 'The caller. Absent for anonymous calls, and where callers differ.',
        },
        ...resource,
        trace_id: text,
        started_at: instant,
        phases: {
          ...object(
            { ended_ms: number },
            { decided_ms: number, asked_ms: number, answered_ms: number },
          ),
          description:
            'Milliseconds from the head of the request: until who may call what was decided, the ' +
            'destination was asked, the head of its answer was there, and the call ended.',
        },
        request_bytes: { ...whole, description: 'Of the body.' },
        answer_bytes: { ...whole, description: 'Of the body.' },
        run_id: { ...uuid, description: 'The run of the reactor.' },
        transforms: {
          ...object({}, { request: uuid, response: uuid }),
          description: 'The runs of the code of the proxy.',
        },
        sampled: {
          ...flag,
          description: 'The entry stands for several calls, and shows the first.',
        },
      },
    ),
    example: {
      id: '019b7a3e-52c0-7c1a-9f3b-2d4e5f607182',
      method: 'POST',
      path: '/proxy',
      outcome: 'failed',
      status: 502,
      code: 'destination_unreachable',
      cause: { phase: 'tls', reason: 'the certificate is self-signed' },
      application_id: 'c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11',
      proxy_id: proxyId,
      trace_id: 'order-7',
      started_at: time,
      ended_at: time,
      phases: { decided_ms: 0.21, asked_ms: 1.4, ended_ms: 18.02 },
      request_bytes: 214,
      answer_bytes: 131,
      token_ids: ['2c9e7b1a-0d34-4f5e-8a6b-1f2e3d4c5b6a'],
      count: 1,
    },
  },
  CallPage: object({
    pagination: ref('CursorPagination'),
    data: listOf(ref('Call'), pageEntriesMax),
  }),
  CallSummary: {
    ...object(
      {
        from: instant,
        to: instant,
        latency_bounds_ms: {
          ...listOf(number, latencyBoundsMs.length),
          description: 'The upper bound of each class of `latencies`. The last class has none.',
        },
        data: listOf(
          object(
            {
              minute: { ...instant, description: 'In which the calls ended.' },
              resource: { ...text, description: 'The template of the path.' },
              outcome: oneOf(callOutcomes),
              calls: whole,
              duration_ms: { ...number, description: 'Of all the calls together.' },
              latencies: {
                ...listOf(whole, latencyBoundsMs.length + 1),
                description: 'The calls of each class of duration.',
              },
            },
            resource,
          ),
          summaryEntriesMax,
        ),
      },
      { truncated: flag },
    ),
    example: {
      from: time,
      to: time,
      latency_bounds_ms: latencyBoundsMs,
      data: [
        {
          minute: time,
          resource: '/proxy',
          proxy_id: proxyId,
          outcome: 'completed',
          calls: 3,
          duration_ms: 57.4,
          latencies: [0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        },
      ],
    },
  },
};
