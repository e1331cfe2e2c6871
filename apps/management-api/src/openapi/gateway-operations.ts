import { chosenUrlMax } from '@glovebox/egress';
import { exampleOf } from './answer-examples';
import {
  errorsOfProxy,
  errorsOfReact,
  examplesOf,
  type ProblemResponses,
} from './operation-errors';
import { headersOf, json, object, ref, text, type Schema, type Schemas } from './schema';

const pathSuffix: Schema = {
  name: 'path',
  in: 'path',
  required: true,
  description: 'Any path, slashes included. It is appended to the destination.',
  schema: text,
  example: 'v1/charges',
};

const expression = '{{ 6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10 }}';

const react = (problems: ProblemResponses): Schema => ({
  operationId: 'invokeReactor',
  tags: ['Invocation'],
  summary: 'Run a reactor',
  description:
    'Needs the permission `token:use`, also for the container of each token in `args`. With ' +
    '`callback_url` the answer is 202, and a webhook delivers the result. With an idempotency key ' +
    'the outcome of code that ran is stored, whatever its status.',
  parameters: [
    { $ref: '#/components/parameters/id' },
    { $ref: '#/components/parameters/idempotencyKey' },
    { $ref: '#/components/parameters/strict' },
    { $ref: '#/components/parameters/traceId' },
  ],
  requestBody: {
    content: {
      'application/json': {
        schema: ref('Invocation'),
        example: { args: { card: { number: expression } } },
      },
    },
  },
  responses: {
    200: answerWith('The result of the code.', ref('ReactorResponse')),
    202: answerWith('Accepted. The run is queued.', ref('AsyncRequest')),
    ...problems.of(errorsOfReact),
    default: {
      ...answerWith('An error that the code threw, with its own status.', ref('Problem')),
      content: {
        'application/json': { schema: ref('Problem'), examples: examplesOf(['reactor_error']) },
      },
    },
  },
});

const proxyHeaders = ['proxyKey', 'proxyKeyInQuery', 'proxyUrl', 'traceId'].map((name) => ({
  $ref: `#/components/parameters/${name}`,
}));

function proxyMethods(suffix: string, more: readonly Schema[]): Schemas {
  const parameters = [...more, ...proxyHeaders];
  return Object.fromEntries(
    ['get', 'post', 'put', 'patch', 'delete'].map((method) => [
      method,
      { ...proxy(method, suffix), parameters },
    ]),
  );
}

function proxy(method: string, suffix: string): Schema {
  const hasBody = method !== 'get' && method !== 'delete';
  const body = {
    content: {
      'application/json': { schema: json, example: { amount: 1200, card: expression } },
      '*/*': { schema: json },
    },
  };
  return {
    operationId: `${method}Proxy${suffix}Call`,
    tags: ['Invocation'],
    summary: `Forward a ${method.toUpperCase()} through a proxy`,
    description:
      'Expressions in path, query, headers and body are replaced before the call is forwarded. A ' +
      'proxy with `require_auth` needs an API key with `token:use`. Answers of the destination ' +
      'are passed on, whatever their status, with `SVC-PROXY-DESTINATION-STATUS`. A proxy with ' +
      '`allowed_origins` refuses other origins with 403, and answers preflights itself.',
    security: [{ apiKey: [] }, {}],
    ...(hasBody ? { requestBody: body } : {}),
    responses: { default: { $ref: '#/components/responses/ProxyAnswer' } },
  };
}

const proxyAnswer: Schema = {
  description: 'The answer of the destination, or `proxy_error` if the proxy itself failed.',
  headers: headersOf('SVC-TRACE-ID', 'SVC-PROXY-DESTINATION-STATUS', 'Retry-After'),
  content: {
    'application/json': {
      schema: { anyOf: [ref('ProxyError'), json] },
      examples: {
        answer: { summary: 'Of the destination', value: { approved: true } },
        ...examplesOf(errorsOfProxy, 'proxy_error.'),
      },
    },
  },
};

function answerWith(description: string, schema: Schema): Schema {
  return {
    description,
    headers: headersOf('SVC-TRACE-ID', 'SVC-IDEMPOTENT-REPLAY', 'SVC-UNKNOWN-MEMBERS'),
    content: { 'application/json': { schema, example: exampleOf(schema) } },
  };
}

/** Operations of the gateway, written by hand: it has no controllers to read. */
export const gatewayPaths = (problems: ProblemResponses): Readonly<Record<string, Schemas>> => ({
  '/reactors/{id}/react': { post: react(problems) },
  '/proxy': proxyMethods('', []),
  '/proxy/{path}': proxyMethods('Path', [pathSuffix]),
});

export const gatewayResponses: Schemas = { ProxyAnswer: proxyAnswer };

export const invocationSchema: Schema = object(
  {},
  {
    args: {
      description: 'An object, or one expression that yields an object.',
      anyOf: [{ type: 'object', additionalProperties: json }, text],
    },
    callback_url: {
      ...{ type: 'string', format: 'uri', maxLength: chosenUrlMax },
      description: 'http or https. It makes the run asynchronous.',
    },
    timeout_ms: {
      type: 'integer',
      minimum: 10_000,
      maximum: 210_000,
      default: 10_000,
      description: 'Only allowed with `callback_url`.',
    },
  },
);
