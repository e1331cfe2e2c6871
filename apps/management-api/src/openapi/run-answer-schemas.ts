import { attemptsListedMax, deliveryStatuses, runKinds, runStatuses } from '@glovebox/runs';
import { stackFramesMax } from '@glovebox/sandbox';
import { argumentNamesMax, linesMax, pageEntriesMax, usedTokensMax } from './answer-bounds';
import {
  flag,
  instant,
  json,
  listOf,
  object,
  oneOf,
  ref,
  text,
  uuid,
  whole,
  type Schema,
  type Schemas,
} from './schema';

const reactorId = '6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10';
const runId = '019b7a3e-52c0-7c1a-9f3b-2d4e5f607182';
const time = '2026-01-31T12:00:00.000Z';

const runMembers: readonly [Schemas, Schemas] = [
  {
    id: uuid,
    kind: oneOf(runKinds),
    resource_id: { ...uuid, description: 'The reactor, or the proxy of the transform.' },
    mode: {
      ...oneOf(['sync', 'async', 'request', 'response']),
      description: 'For a transform, the side that it changes.',
    },
    status: oneOf(runStatuses),
    trace_id: text,
    attempt: { ...whole, description: 'Counts from 1.' },
    created_at: instant,
  },
  {
    application_id: { ...uuid, description: 'The caller. Absent for anonymous calls.' },
    outcome: { ...text, description: '`completed`, `cancelled`, or the code of the error.' },
    http_status: whole,
    argument_names: listOf(text, argumentNamesMax),
    token_ids: listOf(text, usedTokensMax),
    queued_ms: whole,
    duration_ms: whole,
    position: {
      ...object({ line: whole, column: whole }, { source: text }),
      description: 'The place in the code where its error was made.',
    },
    started_at: instant,
    ended_at: instant,
    arguments_kept_until: {
      ...instant,
      description: 'Until then the run can be repeated.',
    },
    rerun_of: { ...uuid, description: 'The failed run that it repeats.' },
  },
];

const run = {
  id: runId,
  kind: 'reactor',
  resource_id: reactorId,
  application_id: 'c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11',
  mode: 'async',
  status: 'failed',
  outcome: 'reactor_error',
  http_status: 500,
  argument_names: ['card.number'],
  token_ids: ['2c9e7b1a-0d34-4f5e-8a6b-1f2e3d4c5b6a'],
  trace_id: 'order-7',
  attempt: 1,
  queued_ms: 12,
  duration_ms: 184,
  position: { line: 3, column: 9 },
  created_at: time,
  started_at: time,
  ended_at: time,
};
const attempt = { at: time, ms: 48, status: 200, outcome: 'delivered' };
const [always, sometimes] = runMembers;

/** One part of a log. */
const partOf = (item: string): Schema =>
  object({ pagination: ref('CursorPagination'), data: listOf(ref(item), pageEntriesMax) });

export const runAnswers: Schemas = {
  CursorPagination: {
    ...object(
      { page_size: whole },
      { after: { ...uuid, description: 'Gives the next part. Absent at the end.' } },
    ),
    example: { page_size: 20, after: runId },
  },
  Run: { ...object(always, sometimes), example: run },
  Rerun: {
    ...object({
      async_request_id: uuid,
      asyncReactorRequestId: { ...uuid, description: 'The same, for existing clients.' },
      again: object(
        {
          reactor_id: uuid,
          token_ids: { ...listOf(text, 100), description: 'At most 100 of them.' },
          says: { ...listOf(text, 10), description: 'What happens again, in words.' },
        },
        { callback_host: text },
      ),
    }),
    example: {
      async_request_id: runId,
      asyncReactorRequestId: runId,
      again: {
        reactor_id: reactorId,
        token_ids: [],
        says: ['The code of now runs on the arguments of then.'],
      },
    },
  },
  RunDetails: {
    ...object(
      {
        ...always,
        lines: {
          ...listOf(object({ at: instant, level: text, text }), linesMax),
          description: 'The output of `console`, without values that the run knew.',
        },
      },
      {
        ...sometimes,
        message: {
          ...text,
          description: 'Why the run failed, without values that the run knew.',
        },
        stack: {
          ...listOf(
            object({ line: whole, column: whole }, { function: text, source: text }),
            stackFramesMax,
          ),
          description: 'The calls in the code that led to its error, the innermost first.',
        },
        code: {
          ...text,
          description:
            'The code that ran, for callers who may read it (`reactor:read`, `proxy:read`). Absent ' +
            'where it is not kept any more.',
        },
        code_sha256: {
          ...text,
          description: 'The same of a bundle, whose text GET /code/{sha256} has.',
        },
        code_changed: {
          ...flag,
          description: 'A run of now would execute other code, or none.',
        },
        webhook: object({
          status: oneOf(deliveryStatuses),
          attempts: listOf(ref('WebhookAttempt'), attemptsListedMax),
        }),
      },
    ),
    example: {
      ...run,
      message: 'the bank declined: 51',
      stack: [
        { function: 'charge', line: 3, column: 9 },
        { function: 'module.exports', line: 12, column: 5 },
      ],
      lines: [{ at: time, level: 'info', text: 'the bank declined' }],
      code: 'module.exports = async ({ args, configuration }) => {\n  …\n};',
      code_changed: false,
      webhook: { status: 'delivered', attempts: [attempt] },
    },
  },
  RunPage: partOf('Run'),
  RunResult: {
    ...object(
      { status: oneOf(['pending', 'completed', 'failed']) },
      { result: json, error: ref('Problem') },
    ),
    example: { status: 'completed', result: { raw: { approved: true } } },
  },
  WebhookAttempt: {
    ...object(
      {
        at: instant,
        ms: whole,
        outcome: oneOf(['delivered', 'rejected', 'timed_out', 'unreachable']),
      },
      {
        status: { ...whole, description: 'Absent if there was no answer.' },
        cause: {
          ...object({ phase: text, reason: text }),
          description: 'Where and why there was no answer. Absent for what may not be reached.',
        },
      },
    ),
    example: attempt,
  },
  WebhookDelivery: {
    ...object(
      {
        id: uuid,
        run_id: uuid,
        webhook_id: text,
        host: text,
        status: oneOf(deliveryStatuses),
        attempts: listOf(ref('WebhookAttempt'), attemptsListedMax),
        replayable: { ...flag, description: 'It has ended, and its body was not erased yet.' },
        created_at: instant,
      },
      { reactor_id: uuid, outcome: text, next_attempt_at: instant, ended_at: instant },
    ),
    example: {
      id: runId,
      run_id: runId,
      reactor_id: reactorId,
      webhook_id: `msg_${runId}`,
      host: 'shop.example',
      status: 'delivered',
      outcome: 'delivered',
      attempts: [attempt],
      replayable: true,
      created_at: time,
      ended_at: time,
    },
  },
  WebhookDeliveryPage: partOf('WebhookDelivery'),
  Replayed: {
    ...object({ matched: whole, queued: whole, gone: whole }),
    example: { matched: 41, queued: 40, gone: 1 },
  },
  ReplayCount: { ...object({ count: whole }), example: { count: 40 } },
};
