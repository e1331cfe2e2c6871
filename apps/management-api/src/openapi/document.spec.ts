import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { controllers } from '../app.module';
import { toDto } from '../validation/body.pipe';
import { Conformance } from './spec-conform';
import { nameOf, openApiDocument } from './document';
import { operations } from './operations';
import { routesOf } from './routes';
import type { Schema } from './schema';

const document = openApiDocument(controllers);
const routes = routesOf(controllers);

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  parameters: Schema[];
  responses: Record<string, { content?: object }>;
  requestBody?: { content: Record<string, { schema: Schema; example?: unknown }> };
}

interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, Schema>>;
}

const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    operation: operation as unknown as Operation,
  })),
);

it('the document has an operation for every route, and no text for a route that is gone', () => {
  expect(Object.keys(operations).sort()).toEqual(routes.map(nameOf).sort());
});

it('the document has the operations of the gateway', () => {
  const names = documented.map(({ name }) => name);
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
  expect(names).toEqual(
    expect.arrayContaining([
      'POST /reactors/{id}/react',
      ...methods.flatMap((method) => [`${method} /proxy`, `${method} /proxy/{path}`]),
    ]),
  );
});

it('the document has what a run may answer: replays, and any status that its code throws', () => {
  const { operation } = documented.find(({ name }) => name === 'POST /reactors/{id}/react') ?? {};
  const replay = { 'SVC-IDEMPOTENT-REPLAY': expect.any(Object) as object };
  expect(operation?.responses).toMatchObject({
    200: { headers: replay },
    202: { headers: replay },
    default: {
      headers: replay,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
    },
  });
});

it('the document gives each operation an id of its own', () => {
  const ids = documented.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z0-9]+$/);
});

it('the document describes every body of a request and of an answer', () => {
  const silent = routes.filter((route) => {
    const { operation } = documented.find(({ name }) => name === nameOf(route)) ?? {};
    const mayTake = route.body !== undefined && route.method !== 'DELETE';
    const takes = mayTake || ['PUT', 'PATCH'].includes(route.method);
    const [body] = Object.values(operation?.requestBody?.content ?? {});
    if (takes && (!body || body.example === undefined)) return true;
    return route.status !== 204 && !operation?.responses[route.status]?.content;
  });
  expect(silent.map(nameOf)).toEqual([]);
});

/** All schemas in a part of the document, each with its place in it. */
function* schemasIn(part: unknown, place: string): Generator<readonly [string, Schema]> {
  if (typeof part !== 'object' || part === null) return;
  if (!Array.isArray(part) && ('type' in part || '$ref' in part)) yield [place, part as Schema];
  for (const [name, one] of Object.entries(part)) {
    if (name !== 'example' && name !== 'examples') yield* schemasIn(one, `${place}.${name}`);
  }
}

const { schemas = {}, responses = {}, examples = {} } = document.components;

it('the document describes every member, parameter and header', () => {
  const silent = [...schemasIn(schemas, 'schemas')].flatMap(([place, { properties = {} }]) =>
    Object.entries(properties as Record<string, Schema>)
      .filter(([, member]) => {
        const named =
          String(member.$ref ?? '')
            .split('/')
            .at(-1) ?? '';
        return !member.description && !schemas[named]?.description;
      })
      .map(([name]) => `${place}.${name}`),
  );
  const { parameters = {}, headers = {} } = document.components;
  const inPlace = documented.flatMap(({ name, operation }) =>
    operation.parameters
      .filter((one) => !one.$ref && !one.description)
      .map((one) => `${name} ${String(one.name)}`),
  );
  const others = Object.entries({ ...parameters, ...headers })
    .filter(([, one]) => !one.description)
    .map(([name]) => name);
  expect([...silent, ...inPlace, ...others]).toEqual([]);
});

it('every list of the document has a bound, and so has every text of a token', () => {
  const endless = [...schemasIn(document, '')].filter(
    ([, { type, maxItems }]) => type === 'array' && maxItems === undefined,
  );
  expect(endless.map(([place]) => place)).toEqual([]);
  const { CreateToken: token = {} } = schemas;
  expect(token.properties).toMatchObject({
    id: { maxLength: 400 },
    containers: { maxItems: 1, items: { maxLength: 200 } },
    search_indexes: { maxItems: 20, items: { maxLength: 4_096 } },
  });
});

it('every answer, every error and every body of the document has an example that its schema takes', () => {
  const conformance = new Conformance(document);
  const named = (one: Schema, kind: Record<string, Schema>): Schema =>
    kind[
      String(one.$ref ?? '')
        .split('/')
        .at(-1) ?? ''
    ] ?? one;
  const faults = documented.flatMap(({ name, operation }) => {
    const answers = Object.entries(operation.responses).map(
      ([status, response]) => [status, named(response as Schema, responses)] as const,
    );
    const all = [...answers, ['body', (operation.requestBody ?? {}) as Schema] as const];
    return all.flatMap(([where, { content = {} }]) =>
      Object.entries(content as Record<string, Media>)
        .filter(([type]) => type !== '*/*')
        .flatMap(([, { schema, example, examples: several = {} }]) => {
          const values = Object.values(several).map((one) => named(one, examples).value);
          const shown = example === undefined ? values : [example];
          if (shown.length === 0) return [`${name} ${where} has no example`];
          const found = shown.map((one) => conformance.faults(schema, one));
          return found.flatMap((fault) => (fault ? [`${name} ${where}: ${fault}`] : []));
        }),
    );
  });
  expect(faults).toEqual([]);
});

it('operations list the errors that they can give alone', () => {
  const codesOf = (name: string): string[] => {
    const { operation } = documented.find((one) => one.name === name) ?? {};
    return Object.values(operation?.responses ?? {}).flatMap((response) =>
      String((response as Schema).$ref ?? '')
        .replace('#/components/responses/', '')
        .split('.'),
    );
  };
  const getPermissions = codesOf('GET /permissions');
  for (const code of ['not_found', 'conflict', 'permission_denied', 'validation_failed']) {
    expect(getPermissions).not.toContain(code);
  }
  expect(codesOf('GET /proxies/{id}')).not.toContain('payload_too_large');
  expect(codesOf('DELETE /proxies/{id}')).not.toContain('conflict');
  expect(codesOf('POST /proxies')).toEqual(expect.arrayContaining(['conflict', 'invalid_code']));
  expect(codesOf('POST /applications')).not.toContain('invalid_code');
  expect(codesOf('POST /reactors/{id}/react')).toContain('reactor_timeout');
});

it('the document has no dangling reference', () => {
  const references = JSON.stringify(document).match(/#\/components\/[^"]+/g) ?? [];
  const missing = references.filter((reference) => {
    const [, , kind = '', name = ''] = reference.split('/');
    return !document.components[kind]?.[name];
  });
  expect(missing).toEqual([]);
});

it('the document has no unused component', () => {
  const text = JSON.stringify(document);
  const unused = ['schemas', 'parameters', 'responses', 'headers', 'examples'].flatMap((kind) =>
    Object.keys(document.components[kind] ?? {}).filter(
      (name) => !text.includes(`"#/components/${kind}/${name}"`),
    ),
  );
  expect(unused).toEqual([]);
});

it('the examples of the document match its schemas', () => {
  const conformance = new Conformance(document);
  const schemas = Object.entries(document.components.schemas ?? {});
  const answers = schemas.filter(([, { example }]) => example !== undefined);
  expect(answers.length).toBeGreaterThan(10);
  for (const [name, schema] of answers) {
    expect([name, conformance.faults(schema, schema.example)]).toEqual([name, undefined]);
  }
  for (const { name, operation } of documented) {
    for (const { schema, example } of Object.values(operation.requestBody?.content ?? {})) {
      if (example === undefined) continue;
      expect([name, conformance.faults(schema, example)]).toEqual([name, undefined]);
    }
  }
});

it('the API accepts the bodies that the document shows', async () => {
  for (const route of routes) {
    const example = operations[nameOf(route)]?.body;
    if (route.body && example !== undefined) toDto(route.body, example);
  }
});

it('docs/openapi.json is the current document', () => {
  const file = join(__dirname, '../../../../docs/openapi.json');
  const committed: unknown = JSON.parse(readFileSync(file, 'utf8'));
  try {
    expect(committed).toEqual(JSON.parse(JSON.stringify(document)));
  } catch (error) {
    throw new Error('docs/openapi.json is out of date. Run: npm run docs', { cause: error });
  }
});
