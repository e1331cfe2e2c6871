import {
  json,
  object,
  ref,
  replayHeaderSchemas,
  text,
  unknownMembersHeader,
  type Schema,
} from './schema';

type Responses = Readonly<Record<string, Schema>>;

/** Operations of the gateway, written by hand: it has no controllers to read. */
export function gatewayPaths(
  problems: (statuses: readonly number[]) => Responses,
): Readonly<Record<string, Readonly<Record<string, Schema>>>> {
  return {
    '/reactors/{id}/react': { post: react(problems) },
    '/proxy': proxyMethods('', []),
    '/proxy/{path}': proxyMethods('Path', [pathSuffix]),
  };
}

const pathSuffix: Schema = {
  name: 'path',
  in: 'path',
  required: true,
  description: 'Any path, slashes included. It is appended to the destination.',
  schema: text,
};

function react(problems: (statuses: readonly number[]) => Responses): Schema {
  return {
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
          example: { args: { card: { number: '{{ 6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10 }}' } } },
        },
      },
    },
    responses: {
      200: answerWith('The result of the code.', ref('ReactorResponse')),
      202: answerWith('Accepted. The run is queued.', ref('AsyncRequest')),
      ...problems([400, 401, 403, 404, 409, 410, 413, 415, 422, 429, 500, 503, 504]),
      default: answerWith('An error that the code threw, with its own status.', ref('Problem')),
    },
  };
}

const proxyHeaders = ['proxyKey', 'proxyKeyInQuery', 'proxyUrl', 'traceId'].map((name) => ({
  $ref: `#/components/parameters/${name}`,
}));

function proxyMethods(suffix: string, more: readonly Schema[]): Readonly<Record<string, Schema>> {
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
    ...(hasBody ? { requestBody: { content: { '*/*': { schema: {} } } } } : {}),
    responses: {
      default: {
        description: 'The answer of the destination, or `proxy_error` if the proxy itself failed.',
        headers: {
          'SVC-TRACE-ID': { schema: text },
          'SVC-PROXY-DESTINATION-STATUS': { schema: { type: 'integer' } },
        },
        content: { 'application/json': { schema: { anyOf: [ref('ProxyError'), {}] } } },
      },
    },
  };
}

function answerWith(description: string, schema: Schema): Schema {
  return {
    description,
    headers: {
      'SVC-TRACE-ID': { schema: text },
      ...replayHeaderSchemas,
      ...unknownMembersHeader,
    },
    content: { 'application/json': { schema } },
  };
}

export const invocationSchema: Schema = object(
  {},
  {
    args: {
      description: 'An object, or one expression that yields an object.',
      anyOf: [{ type: 'object', additionalProperties: json }, text],
    },
    callback_url: { ...text, description: 'http or https. It makes the run asynchronous.' },
    timeout_ms: {
      type: 'integer',
      minimum: 10_000,
      maximum: 210_000,
      default: 10_000,
      description: 'Only allowed with `callback_url`.',
    },
  },
);
