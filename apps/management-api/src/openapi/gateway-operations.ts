import { json, object, ref, text, type Schema } from './schema';

type Responses = Readonly<Record<string, Schema>>;

/** What the gateway serves itself. By hand: it is an app of its own. */
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
  description: 'Any path, slashes included: it is appended to the destination.',
  schema: text,
};

function react(problems: (statuses: readonly number[]) => Responses): Schema {
  return {
    operationId: 'invokeReactor',
    tags: ['Invocation'],
    summary: 'Run a reactor',
    description:
      'Needs the permission `token:use`, also for the container of each token in `args`. With ' +
      '`callback_url` the answer is 202, and the result comes as a webhook.',
    parameters: [
      { $ref: '#/components/parameters/id' },
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
      200: answerWith('The code has answered.', ref('ReactorResponse')),
      202: answerWith('Accepted: it will run.', ref('AsyncRequest')),
      ...problems([400, 401, 403, 404, 413, 415, 422, 429, 500, 503, 504]),
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
      'Expressions in path, query, headers and body are replaced before the call goes on. A proxy ' +
      'with `require_auth` wants an API key with `token:use`. An answer of the destination comes ' +
      'as it is, whatever its status, with `SVC-PROXY-DESTINATION-STATUS`.',
    security: [{ apiKey: [] }, {}],
    ...(hasBody ? { requestBody: { content: { '*/*': { schema: {} } } } } : {}),
    responses: {
      default: {
        description: 'What the destination answered; or, where the proxy failed, `proxy_error`.',
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
    headers: { 'SVC-TRACE-ID': { schema: text } },
    content: { 'application/json': { schema } },
  };
}

export const invocationSchema: Schema = object(
  {},
  {
    args: { type: 'object', additionalProperties: json },
    callback_url: { ...text, description: 'http or https. The run is then asynchronous.' },
    timeout_ms: {
      type: 'integer',
      minimum: 10_000,
      maximum: 210_000,
      default: 10_000,
      description: 'Only with `callback_url`.',
    },
  },
);
