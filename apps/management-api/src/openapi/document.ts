import type { Type } from '@nestjs/common';
import { chosenUrlMax } from '@glovebox/egress';
import { exampleOf } from './answer-examples';
import { answers } from './answer-schemas';
import { gatewayPaths, gatewayResponses, invocationSchema } from './gateway-operations';
import type { OperationText } from './operation-text';
import { describeMembers } from './member-texts';
import { errorsOf, problemExamples, ProblemResponses } from './operation-errors';
import { operations } from './operations';
import { RequestSchemas } from './request-schemas';
import { isConditional, routesOf, type ApiRoute } from './routes';
import {
  flag,
  headers,
  headersOf,
  listOf,
  ref,
  text,
  uuid,
  type Schema,
  type Schemas,
} from './schema';

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly Schema[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly security: readonly Schema[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Schema>>>>;
  readonly components: Readonly<Record<string, Schemas>>;
}

const description = `Manages reactors, proxies and the tokens that they use.

Every call names an API key in \`SVC-API-KEY\`. In paths upper and lower case differ, and trailing
slashes make no difference. A method that a path does not take is 405 with \`Allow\`. Members of a
body that are not listed here are ignored, and named in \`SVC-UNKNOWN-MEMBERS\` of the answer; with
\`SVC-STRICT: true\` they are refused. Optional members that are null in a POST or PUT count as
absent. Ids are UUIDs, in either case. Tokens may have ids of your own.

A POST with \`SVC-IDEMPOTENCY-KEY\` is executed once. Sent again within 24 hours with the same body,
it gets the same answer, with \`SVC-IDEMPOTENT-REPLAY: true\`. While the first call runs, the second
gets 409; with another body, 422. An answer that shows data of tokens is decided anew: 403 where the
caller may not see that data now, 410 where it is gone. Answers 400, 401, 403, 404, 413, 415, 429 and 503 are not stored,
nor are those that carry a new API key.`;

const tags = [
  { name: 'Reactors', description: 'Formulas with their configuration, run on demand.' },
  {
    name: 'Reactor formulas',
    description: 'Code, with the configuration and parameters that it needs.',
  },
  { name: 'Proxies', description: 'Destinations, with transforms of requests and responses.' },
  {
    name: 'Invocation',
    description: 'Runs of reactors and calls through proxies, served by the gateway.',
  },
  { name: 'Tokens', description: 'Stored data, and the ids that stand for it.' },
  { name: 'Applications', description: 'Callers, with their keys and permissions.' },
  { name: 'Permissions', description: 'All permissions that an application may hold.' },
  { name: 'Tenants', description: 'The tenant of the caller.' },
  { name: 'Overview', description: 'What happened lately, and what waits.' },
  { name: 'Calls', description: 'The log of calls, and their counts by minute.' },
  { name: 'Runs', description: 'Runs of code: those of reactors, and those of transforms.' },
  {
    name: 'Webhook deliveries',
    description: 'Webhooks that report async runs, and their attempts.',
  },
  { name: 'Logs', description: 'The audit log: changes, and each use of data.' },
];

/** Builds the document from the controllers, their DTO classes and the texts of this folder. */
export function openApiDocument(controllers: readonly Type[]): OpenApiDocument {
  const parts = { requests: new RequestSchemas(), problems: new ProblemResponses() };
  const paths: Record<string, Record<string, Schema>> = {};
  for (const route of routesOf(controllers)) {
    const words = operations[nameOf(route)];
    if (!words) continue;
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: operation(route, words, parts),
    };
  }
  const { requests, problems } = parts;
  Object.assign(paths, gatewayPaths(problems));
  return {
    openapi: '3.0.3',
    info: { title: 'Glovebox', version: '1', description },
    servers: [{ url: '/' }],
    tags,
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'SVC-API-KEY' } },
      parameters,
      headers,
      responses: { ...gatewayResponses, ...problems.all },
      examples: problemExamples,
      schemas: describeMembers({ ...answers, Invocation: invocationSchema, ...requests.all }),
    },
  };
}

/** What operations share. */
interface Parts {
  readonly requests: RequestSchemas;
  readonly problems: ProblemResponses;
}

/** The key of an operation in `operations`. */
export const nameOf = ({ method, path }: Pick<ApiRoute, 'method' | 'path'>): string =>
  `${method} ${path}`;

const hasBody = ({ method }: Pick<ApiRoute, 'method'>): boolean =>
  ['POST', 'PUT', 'PATCH'].includes(method);

function operation(route: ApiRoute, words: OperationText, { requests, problems }: Parts): Schema {
  const { permission } = route;
  const needs = permission ? [`Needs the permission \`${permission}\`.`] : [];
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const headers = [
    ...(route.method === 'POST' ? ['idempotencyKey'] : []),
    ...(hasBody(route) ? ['strict'] : []),
    ...(isConditional(route) ? ['ifMatch'] : []),
    'traceId',
  ];
  const body = requestBody(route, words, requests);
  return {
    operationId: words.id,
    tags: [tagOf(route.path)],
    summary: words.summary,
    description: [words.description ?? [], needs].flat().join(' '),
    parameters: [
      ...names.map((name) =>
        name === 'id' && !route.path.startsWith('/tokens')
          ? { $ref: '#/components/parameters/id' }
          : {
              name,
              in: 'path',
              required: true,
              description: name === 'id' ? 'The id.' : `The id of the ${name.slice(0, -3)}.`,
              schema: route.path.startsWith('/tokens') ? text : uuid,
            },
      ),
      ...Object.entries(words.query ?? {}).map(queryParameter),
      ...headers.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ],
    ...(body ? { requestBody: body } : {}),
    responses: {
      [route.status]: success(route, words),
      ...otherwise(route, words),
      ...problems.of(errorsOf(route, words)),
    },
  };
}

function tagOf(path: string): string {
  const [, first = ''] = path.split('/');
  const name = first.replaceAll('-', ' ');
  return tags.find((tag) => tag.name.toLowerCase() === name)?.name ?? 'Tokens';
}

function requestBody(route: ApiRoute, words: OperationText, requests: RequestSchemas) {
  // OpenAPI 3.0 gives the body of a DELETE no meaning.
  if (!hasBody(route)) return undefined;
  const type = route.method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const patched = words.patches && requests.addPatch(words.patches);
  const schema = words.takes ?? patched ?? (route.body && requests.add(route.body));
  if (!schema) {
    // A POST that needs no body may have one, and its media type is checked all the same.
    const nothing = { content: { [type]: { schema: { type: 'object' }, example: {} } } };
    return route.method === 'POST' ? nothing : undefined;
  }
  const example = words.body === undefined ? {} : { example: words.body };
  return { required: true, content: { [type]: { schema, ...example } } };
}

type Query = NonNullable<OperationText['query']>;

function queryParameter([name, { description, schema, many }]: [string, Query[string]]): Schema {
  return {
    name,
    in: 'query',
    description,
    schema: many ? listOf(schema, many) : schema,
    ...(many ? { style: 'form', explode: true } : {}),
  };
}

function success(
  { method, status, isTagged }: ApiRoute,
  { summary, answer, shows }: OperationText,
): Schema {
  const schema = typeof answer === 'string' ? ref(answer) : answer;
  const example = shows ?? (schema && exampleOf(schema));
  return {
    description: summary,
    headers: headersOf(
      'SVC-TRACE-ID',
      ...(method === 'POST' ? (['SVC-IDEMPOTENT-REPLAY'] as const) : []),
      ...(hasBody({ method }) ? (['SVC-UNKNOWN-MEMBERS'] as const) : []),
      ...(isTagged && method !== 'DELETE' ? (['ETag'] as const) : []),
    ),
    ...(schema && status !== 204 ? { content: { 'application/json': { schema, example } } } : {}),
  };
}

/** The other success of an operation that has two. */
function otherwise(route: ApiRoute, words: OperationText): Record<string, Schema> {
  if (!words.otherwise) return {};
  const { status, description, answer } = words.otherwise;
  return { [status]: { ...success({ ...route, status }, { ...words, answer }), description } };
}

const header = (name: string, description: string, schema: Schema = text): Schema => ({
  name,
  in: 'header',
  description,
  schema,
});

const parameters: Schemas = {
  id: { name: 'id', in: 'path', required: true, description: 'The id.', schema: uuid },
  traceId: header('SVC-TRACE-ID', 'Returned in the answer and written to the log.', {
    ...text,
    pattern: '^[\\w.:-]{1,64}$',
  }),
  idempotencyKey: header(
    'SVC-IDEMPOTENCY-KEY',
    'A call with a key and body that were sent before is not executed again.',
    { ...text, minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
  ),
  ifMatch: header(
    'If-Match',
    'Tags of versions, or `*`. Nothing is changed unless the resource is in one of these versions.',
  ),
  strict: {
    ...header('SVC-STRICT', 'Whether members of the body that nothing reads are refused.'),
    schema: { ...flag, default: false },
  },
  proxyKey: header('SVC-PROXY-KEY', 'The key of the proxy. It may be in the query instead.'),
  proxyUrl: header(
    'SVC-PROXY-URL',
    'A destination in place of a proxy, for tenants that have set `enable_ephemeral_proxy`.',
    { ...text, format: 'uri', maxLength: chosenUrlMax },
  ),
  proxyKeyInQuery: {
    name: 'svc-proxy-key',
    in: 'query',
    description: 'The key of the proxy, for callers that cannot set headers.',
    schema: text,
  },
};
