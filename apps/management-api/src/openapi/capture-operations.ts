import { captureBytesMax, captureHours, capturesMax } from '@glovebox/captures';
import { captureMinutesMax } from '../captures/captures.dto';
import { headerLinesMax, pageEntriesMax } from './answer-bounds';
import { byTime } from './list-queries';
import type { OperationText } from './operation-text';
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

const line = {
  id: uuid,
  proxy_id: uuid,
  trace_id: text,
  method: text,
  whole: { ...flag, description: 'It holds texts, and not shapes alone.' },
  bytes: { ...whole, description: 'Of what is stored.' },
  created_at: instant,
};
const outcome = {
  status: { ...whole, description: 'Absent where the caller left before an answer.' },
  code: { ...text, description: 'The code of the error that the call was answered with.' },
};
const body = object(
  {
    format: oneOf(['json', 'form', 'text', 'multipart', 'encoded', 'binary']),
    bytes: { ...whole, description: 'Of the whole body.' },
  },
  {
    type: { ...text, description: 'The media type.' },
    text: {
      ...text,
      description:
        'For people, and no JSON: `<string 16>` is a value of 16 characters, `<name 20>` a name that ' +
        'may be data, `<hidden>` a key or a password. Absent where the body is no text.',
    },
    cut: { ...flag, description: 'Only the beginning is there.' },
  },
);
const headers = {
  ...listOf(listOf(text, 2), headerLinesMax),
  description: 'Name and shape of the value, in their order.',
};
const request = object({ method: text, path: text, headers }, { query: text, host: text, body });
const answer = object({ status: whole, headers }, { body });
const proxyId = '4a7e2f60-91c3-4d58-b7aa-3e1f0c9d8b21';
const window = { proxy_id: proxyId, until: '2026-01-31T12:10:00.000Z', whole: false };

const captured = {
  id: '019b7a3e-52c0-7c1a-9f3b-2d4e5f607182',
  proxy_id: proxyId,
  trace_id: 'order-7',
  method: 'POST',
  whole: false,
  bytes: 812,
  created_at: '2026-01-31T12:00:00.000Z',
  status: 201,
};
const shownHeaders = [['content-type', 'application/json']];
const shownRequest = {
  method: 'POST',
  path: '/charges',
  headers: shownHeaders,
  body: { format: 'json', type: 'application/json', bytes: 33, text: '{ amount: <number 4> }' },
};
const shownAnswer = { status: 201, headers: shownHeaders };

export const captureAnswers: Schemas = {
  CaptureWindow: {
    ...object({ proxy_id: uuid, until: instant, whole: flag }),
    example: window,
  },
  CaptureLine: { ...object(line, outcome), example: captured },
  CapturePage: object(
    { pagination: ref('CursorPagination'), data: listOf(ref('CaptureLine'), pageEntriesMax) },
    { window: { ...ref('CaptureWindow') } },
  ),
  Capture: {
    ...object(
      { ...line, request: { ...request, description: 'As the caller sent it.' } },
      {
        ...outcome,
        sent: { ...request, description: 'As it left for the destination.' },
        received: { ...answer, description: 'As the destination answered.' },
        answer: {
          ...answer,
          description:
            'As the caller got it, where transforms or steps made it. Else it is `received`.',
        },
      },
    ),
    example: { ...captured, request: shownRequest, sent: shownRequest, received: shownAnswer },
  },
};

export const captureOperations: Readonly<Record<string, OperationText>> = {
  'POST /proxies/{id}/captures': {
    id: 'startCapture',
    summary: 'Keep the shapes of the calls of a proxy for some minutes',
    description:
      `For ${captureMinutesMax} minutes at most; a window that is open is replaced. It is in force when it is ` +
      'answered, and ends by itself. The proxy and its version stay as they are. `whole: true` keeps ' +
      'texts: a person with the role admin alone may ask for it, where the setting ' +
      '`allow_full_capture` of the tenant is `true`.',
    answer: 'CaptureWindow',
    body: { minutes: 10 },
    errors: ['conflict'],
  },
  'DELETE /proxies/{id}/captures': {
    id: 'endCapture',
    summary: 'End the capture of a proxy',
    description: 'What was captured stays for its time.',
  },
  'GET /proxies/{id}/captures': {
    id: 'listCaptures',
    summary: 'List the captured calls of a proxy, the newest first',
    description:
      `A tenant has at most ${capturesMax} of ${captureBytesMax / 1024 / 1024} MiB together, of the last ` +
      `${captureHours} hours: the newest stay. \`window\` is there while capture is on.`,
    answer: 'CapturePage',
    query: {
      ...byTime('ended'),
    },
  },
  'GET /proxies/{id}/captures/{capture_id}': {
    id: 'getCapture',
    summary: 'Read a captured call',
    description:
      'Each reading is a line of the audit log. One with texts is for whom they may be kept.',
    answer: 'Capture',
  },
};
