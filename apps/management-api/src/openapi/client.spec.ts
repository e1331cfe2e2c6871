import { useTestApi } from '../spec-api';
import type { OpenApiDocument } from './document';
import type { Schema } from './schema';

const api = useTestApi();
let baseUrl: string;
let client: Client;

beforeAll(async () => {
  baseUrl = `http://127.0.0.1:${api.port}`;
  const document = (await (await fetch(`${baseUrl}/docs/openapi.json`)).json()) as OpenApiDocument;
  client = generateClient(document, baseUrl, api.tenant.management_key);
});

it('a client generated from the document alone creates, lists, gets, replaces, patches and deletes', async () => {
  const name = `generated ${Date.now()}`;
  const body = { name, code: 'module.exports = () => ({})' };
  const created = await client.createReactorFormula({ body });
  expect(created).toMatchObject({ status: 201, body: { name } });
  const { id } = created.body as { id: string };

  const listed = await client.listReactorFormulas({ name: `${name.slice(0, -1)}*`, id: [id] });
  expect(listed).toMatchObject({ status: 200, body: { data: [{ id }] } });
  expect(await client.getReactorFormula({ id })).toMatchObject({ status: 200, body: { id } });

  const replaced = await client.updateReactorFormula({ id, body: { ...body, icon: 'i' } });
  expect(replaced).toMatchObject({ status: 200, body: { icon: 'i' } });
  expect(await client.patchReactorFormula({ id, body: { icon: null } })).toEqual({ status: 204 });
  expect((await client.getReactorFormula({ id })).body).not.toHaveProperty('icon');

  expect(await client.deleteReactorFormula({ id })).toEqual({ status: 204 });
  const gone = await client.getReactorFormula({ id });
  expect(gone).toMatchObject({ status: 404, body: { code: 'not_found' } });
});

it('every example of a create works unchanged', async () => {
  const { document } = client;
  const formula = await client.createReactorFormula(exampleOf(document, '/reactor-formulas'));
  expect(formula.status).toBe(201);
  const reactor = exampleOf(document, '/reactors');
  const { id } = formula.body as { id: string };
  const body = { ...reactor.body, formula: { id } };
  expect(await client.createReactor({ body })).toMatchObject({ status: 201 });
  expect(await client.createProxy(exampleOf(document, '/proxies'))).toMatchObject({ status: 201 });
  const application = await client.createApplication(exampleOf(document, '/applications'));
  expect(application.status).toBe(201);
});

describe('/docs', () => {
  it('is one page that asks for no key, runs its own script alone and loads nothing else', async () => {
    for (const path of ['/docs', '/docs/']) {
      const page = await fetch(`${baseUrl}${path}`);
      expect(page.status).toBe(200);
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(page.headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; style-src 'sha256-\S+; script-src 'sha256-[^' ]+'; frame-ancestors 'none'/,
      );
      const text = await page.text();
      expect(text).not.toMatch(
        /<script .|<link|<img|src=|url\(|@import| style=| on\w+="|href="(?!#|\/docs\/)/,
      );
      expect(text).toContain('/reactors/{id}/react');
      expect(text).toContain('Create a reactor formula');
      expect(text).toContain("await glovebox.post('/reactor-formulas', {");
      expect(text).toContain('curl -X POST');
    }
  });

  it('serves the document without a key', async () => {
    const answer = await fetch(`${baseUrl}/docs/openapi.json`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'application/json; charset=utf-8',
    ]);
    expect(await answer.json()).toMatchObject({ openapi: '3.0.3' });
  });

  it('answers 404 for other paths', async () => {
    expect((await fetch(`${baseUrl}/docs/other`)).status).toBe(404);
  });
});

interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

type Arguments = Readonly<Record<string, unknown>>;
type Call = (args: Arguments) => Promise<Answer>;
type Client = { readonly document: OpenApiDocument } & Readonly<
  Record<
    | 'createApplication'
    | 'createProxy'
    | 'createReactor'
    | `${'create' | 'get' | 'update' | 'patch' | 'delete'}ReactorFormula`
    | 'listReactorFormulas',
    Call
  >
>;

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly (Parameter & { readonly $ref?: string })[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
}

/** Makes a function for each operation from the document alone. */
function generateClient(document: OpenApiDocument, url: string, apiKey: string): Client {
  const scheme = document.components.securitySchemes?.apiKey as unknown as { name: string };
  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => {
      const { operationId, parameters = [], requestBody } = described as unknown as Operation;
      const known = parameters.map((one) => resolve(document, one));
      const call: Call = async (args) => {
        const target = new URL(url);
        const headers: Record<string, string> = { [scheme.name]: apiKey };
        target.pathname = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
          encodeURIComponent(String(args[name])),
        );
        for (const parameter of known) {
          const values = [args[parameter.name] ?? []].flat().map(String);
          if (parameter.in === 'query') {
            for (const value of values) target.searchParams.append(parameter.name, value);
          } else if (parameter.in === 'header' && values[0]) headers[parameter.name] = values[0];
        }
        const [type] = Object.keys(requestBody?.content ?? {});
        if (type) headers['content-type'] = type;
        const body = type ? { body: JSON.stringify(args.body) } : {};
        const answer = await fetch(target, { method: method.toUpperCase(), headers, ...body });
        const text = await answer.text();
        const parsed = text === '' ? {} : { body: JSON.parse(text) as unknown };
        return { status: answer.status, ...parsed };
      };
      return [operationId, call] as const;
    }),
  );
  return { document, ...Object.fromEntries(calls) } as unknown as Client;
}

function resolve(document: OpenApiDocument, parameter: Parameter & { $ref?: string }): Parameter {
  const name = parameter.$ref?.split('/').at(-1);
  if (name === undefined) return parameter;
  return document.components.parameters?.[name] as unknown as Parameter;
}

function exampleOf(document: OpenApiDocument, path: string): { body: Schema } {
  const { requestBody } = document.paths[path]?.post as unknown as {
    requestBody: { content: Record<string, { example: Schema }> };
  };
  return { body: requestBody.content['application/json']?.example ?? {} };
}
