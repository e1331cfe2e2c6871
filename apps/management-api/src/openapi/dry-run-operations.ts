import { stackFramesMax } from '@glovebox/sandbox';
import { headerLinesMax } from '../dry-runs/dry-runs.dto';
import { linesMax, messagesMax } from './answer-bounds';
import { listOf, oneOf, instant, json, mapOf, object, text, whole } from './schema';
import type { OperationText } from './operation-text';
import type { Schema } from './schema';

const stateOf = oneOf(['completed', 'failed']);
const line = { at: instant, level: text, text };
const position = object({ line: whole, column: whole }, { source: text });

const error: Schema = {
  ...object(
    { title: text, status: whole, code: text, message: text },
    {
      detail: text,
      cause: object(
        { phase: text, reason: text },
        { address: text, port: whole, destination_status: whole },
      ),
      errors: mapOf(listOf(text, messagesMax)),
      position,
      stack: listOf(
        object({ line: whole, column: whole }, { function: text, source: text }),
        stackFramesMax,
      ),
    },
  ),
  description: 'The error that a call would answer, with what the log of runs would keep.',
};

const headers = mapOf({ anyOf: [text, listOf(text, headerLinesMax)] });
const bodyMembers = {
  body: { ...text, description: 'At most 1 MiB of it.' },
  body_bytes: { ...whole, description: 'The bytes of a body that is not shown to its end.' },
};

export const dryRunAnswers: Readonly<Record<string, Schema>> = {
  ReactorDryRun: {
    ...object(
      { status: stateOf, lines: listOf(object(line), linesMax), duration_ms: whole },
      { result: { ...json, description: 'What the code returned.' }, error },
    ),
    example: { status: 'completed', result: { raw: { sum: 42 } }, lines: [], duration_ms: 12 },
  },
  ProxyDryRun: {
    ...object(
      {
        status: stateOf,
        lines: listOf(object({ ...line, side: oneOf(['request', 'response']) }), 2 * linesMax),
        duration_ms: whole,
      },
      {
        request: object({ method: text, url: text, headers }, bodyMembers),
        answer: object({ status: whole, headers }, bodyMembers),
        failed_at: oneOf(['request', 'answer']),
        error,
      },
    ),
    example: {
      status: 'completed',
      request: { method: 'POST', url: 'https://api.bank.example/pay', headers: {}, body: '{}' },
      lines: [],
      duration_ms: 3,
    },
  },
};

export const dryRunOperations: Readonly<Record<string, OperationText>> = {
  'POST /reactors/dry-runs': {
    id: 'rehearseReactor',
    summary: 'Run unsaved code in the sandbox',
    description:
      'Without network and without `svc`, unless they are asked for; `svc` needs `token:use`. It is no ' +
      'run of a reactor. Expressions are replaced for callers with `token:use` alone, and nothing ' +
      'that is answered shows data of tokens or stored configuration. `inspect` lets a debugger in, as ' +
      '`glovebox dev --inspect` does: the code then gets no such data, no `svc`, and 15 minutes.',
    answer: 'ReactorDryRun',
    body: {
      reactor: {
        formula: { code: 'module.exports = ({ args }) => ({ raw: { sum: args.a + args.b } })' },
      },
      args: { a: 1, b: 41 },
    },
    errors: ['not_found', 'invalid_code', 'changed_meanwhile', 'no_capacity'],
  },
  'POST /proxies/dry-runs': {
    id: 'rehearseProxy',
    summary: 'Take a request and an answer through an unsaved proxy',
    description:
      'Nothing leaves, code has neither network nor `svc`, and steps store no token. Expressions are ' +
      'replaced for callers with `token:use` alone, and shown as `[redacted]`. With `inspect` they stay ' +
      'as they are: a debugger is let in, and sees all that code holds.',
    answer: 'ProxyDryRun',
    body: {
      proxy: { destination_url: 'https://api.bank.example' },
      request: { path: '/pay', headers: { 'content-type': 'application/json' }, body: '{}' },
    },
    errors: ['not_found', 'invalid_code', 'changed_meanwhile', 'no_capacity'],
  },
};
