import { problemCatalogue, type ProblemCode } from '@glovebox/problems';
import type { OperationText } from './operation-text';
import { isConditional, type ApiRoute } from './routes';
import { headersOf, ref, type Schema, type Schemas } from './schema';

/** Of every operation: the front door gives them before it knows which one is meant. */
const always: readonly ProblemCode[] = [
  'invalid_request',
  'loop_detected',
  'invalid_api_key',
  'rate_limited',
  'internal_error',
  'service_unavailable',
  'newer_definition',
];

const ofBodies: readonly ProblemCode[] = [
  'validation_failed',
  'invalid_json',
  'payload_too_large',
  'unsupported_media_type',
  'share_exhausted',
];
const ofIdempotencyKeys: readonly ProblemCode[] = ['request_in_progress', 'idempotency_key_reused'];

const ofRuns: readonly ProblemCode[] = [
  'invalid_expression',
  'unknown_token',
  'permission_denied',
  'destination_not_allowed',
  'not_found',
  'changed_meanwhile',
  'application_gone',
  'invalid_code',
  'reactor_error',
  'invalid_reactor_result',
  'reactor_crashed',
  'no_capacity',
  'reactor_timeout',
];

export const errorsOfReact: readonly ProblemCode[] = [
  ...always,
  ...ofBodies,
  ...ofIdempotencyKeys,
  ...ofRuns,
  'data_gone',
  'run_interrupted',
];

export const errorsOfProxy: readonly ProblemCode[] = [
  ...always,
  ...ofRuns,
  'validation_failed',
  'invalid_json',
  'proxy_key_missing',
  'payload_too_large',
  'unsupported_media_type',
  'share_exhausted',
  'destination_unreachable',
  'destination_answer_invalid',
  'destination_busy',
  'destination_timeout',
];

/** Each of them takes a part of the time that the tenant may search. */
const searched = new Set(['logs', 'overview', 'calls', 'runs', 'webhook-deliveries', 'tokens']);

/** The codes that an operation may give: those of its form, and those that its text names. */
export function errorsOf(route: ApiRoute, { query, errors = [] }: OperationText): ProblemCode[] {
  const { method, path, permission } = route;
  const [, family = ''] = path.split('/');
  const isChange = method !== 'GET';
  const hasBody = isChange && method !== 'DELETE';
  const isSearch = method === 'GET' && (searched.has(family) || query !== undefined);
  const codes: readonly (readonly [boolean, readonly ProblemCode[]])[] = [
    [true, always],
    [permission !== undefined, ['permission_denied']],
    [query !== undefined, ['validation_failed']],
    [path.includes('{'), ['not_found']],
    [hasBody, ofBodies],
    [isSearch, ['share_exhausted']],
    [method === 'POST', ofIdempotencyKeys],
    [isConditional(route), ['precondition_failed']],
    [true, errors],
  ];
  return [...new Set(codes.flatMap(([applies, some]) => (applies ? some : [])))];
}

/** The responses of errors, which operations with the same errors share. */
export class ProblemResponses {
  readonly all: Record<string, Schema> = {};

  /** A response for each status of these codes. */
  of(codes: readonly ProblemCode[]): Schemas {
    const statuses = [...new Set(codes.map((code) => problemCatalogue[code].status))].sort();
    return Object.fromEntries(
      statuses.map((status) => {
        const some = codes.filter((code) => problemCatalogue[code].status === status).sort();
        const name = some.join('.');
        this.all[name] ??= problemResponse(status, some);
        return [status, { $ref: `#/components/responses/${name}` }];
      }),
    );
  }
}

const repeatable: ReadonlySet<number> = new Set([409, 429, 503]);

const problemResponse = (status: number, codes: readonly ProblemCode[]): Schema => ({
  description: codes.map((code) => `\`${code}\`: ${problemCatalogue[code].title}`).join(' '),
  headers: headersOf(
    ...(['SVC-TRACE-ID', 'SVC-UNKNOWN-MEMBERS'] as const),
    ...(repeatable.has(status) ? (['Retry-After'] as const) : []),
  ),
  content: { 'application/json': { schema: ref('Problem'), examples: examplesOf(codes) } },
});

/** References to the examples of these codes. */
export const examplesOf = (codes: readonly ProblemCode[], kind = ''): Schemas =>
  Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${kind}${code}` }]));

/** The console and forward mode have ports of their own, which the document does not describe. */
const ofOtherPorts: ReadonlySet<string> = new Set([
  ...['session_ended', 'misdirected_request'],
  ...['forward_denied', 'proxy_authentication_required'],
]);
/** Of paths alone: the methods that they take have operations. */
const ofNoOperation: ReadonlySet<string> = new Set(['method_not_allowed']);
/** Only under `proxy_error`. */
const ofProxiesAlone = /^(?:destination_(?!not_allowed)|proxy_key_missing$)/;

/** Those that a caller of the API can get. */
export const documentedCodes = (Object.keys(problemCatalogue) as ProblemCode[]).filter(
  (code) => !ofOtherPorts.has(code),
);

/** What an error has beside title, status and code. */
const more: Partial<Record<ProblemCode, object>> = {
  validation_failed: { errors: { name: ['must be at most 200 characters'] } },
  invalid_json: { detail: 'Unexpected } at line 1, character 12.' },
  invalid_api_key: { detail: 'Send the key of an application in the header SVC-API-KEY.' },
  permission_denied: { detail: 'The permission token:read is needed.' },
  destination_not_allowed: {
    detail: 'The destination of this call is none of those of the token sk_live.',
  },
  not_found: { detail: 'There is no proxy with this id.' },
  conflict: { detail: 'Reactors use this formula.' },
  invalid_code: {
    errors: { code: ["Unexpected token '}'"] },
    position: { line: 3, column: 9 },
  },
  data_gone: {
    ended: { outcome: 'completed', http_status: 200, at: '2026-01-31T12:00:00.000Z' },
  },
  reactor_error: {
    errors: { error: ['the bank declined: 51'] },
    position: { line: 3, column: 9 },
  },
  destination_unreachable: {
    cause: { phase: 'tls', reason: 'the certificate is self-signed', port: 443 },
  },
};

const problemOf = (code: ProblemCode): object => {
  const { title, status } = problemCatalogue[code];
  return { title, status, code, ...more[code] };
};

/** An example of every error that an operation may give, and of those of proxies as these answer them. */
export const problemExamples: Schemas = Object.fromEntries([
  ...documentedCodes
    .filter((code) => !ofNoOperation.has(code) && !ofProxiesAlone.test(code))
    .map((code) => [code, { summary: problemCatalogue[code].title, value: problemOf(code) }]),
  ...errorsOfProxy.map((code) => [
    `proxy_error.${code}`,
    { summary: problemCatalogue[code].title, value: { proxy_error: problemOf(code) } },
  ]),
]);
