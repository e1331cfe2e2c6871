import { gzipSync } from 'node:zlib';
import { create, runningProduct } from '../product';
import { Workshop, type TransformingProxy } from './transforming';

/** The rules of docs/proxies.md about invoking a proxy, one by one. */
const product = runningProduct();
const asJson = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

let shop: Workshop;
let plain: TransformingProxy;

beforeAll(async () => {
  shop = await Workshop.open(product);
  plain = await shop.proxy({});
});
afterEach(() => shop.reset());
afterAll(() => shop.close());

async function keyOf(rule: { container: string; permissions: string[] }): Promise<string> {
  const rules = [{ priority: 1, transform: 'reveal', ...rule }];
  const body = { name: 'invoking', type: 'private', rules };
  return String((await create(product, '/applications', body, product.adminKey)).key);
}
const tokenIn = async (container: string): Promise<string> => {
  const body = { type: 'token', data: 'plain', containers: [container] };
  return (await create(product, '/tokens', body, product.privateKey)).id;
};

describe('a call to /proxy with a suffix', () => {
  it.each([
    ['', '/'],
    ['/', '/'],
    ['/sub/path', '/sub/path'],
    ['/sub?a=1&b=%7e', '/sub?a=1&b=%7e'],
  ])('%j arrives as %j', async (path, url) => {
    expect((await plain.call({ method: 'GET', path })).status).toBe(200);
    expect(shop.forwarded.url).toBe(url);
  });

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])(
    '%s is forwarded',
    async (method) => {
      const body = method === 'GET' || method === 'HEAD' ? undefined : { a: 1 };
      expect((await plain.call({ method, body })).status).toBe(200);
      expect([shop.forwarded.method, shop.forwarded.body]).toEqual([method, body ? '{"a":1}' : '']);
    },
  );
});

describe('the proxy key', () => {
  const noHeader = { 'SVC-PROXY-KEY': '' };
  const invoke = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${product.baseUrl}/proxy${path}`, {
      headers: { 'SVC-API-KEY': product.privateKey, ...headers },
    });
    return { status: answer.status, text: await answer.text() };
  };

  it('is read from the header', async () => {
    expect(await invoke('', { 'SVC-PROXY-KEY': plain.key })).toMatchObject({ status: 200 });
  });
  it('is read from the query, which is forwarded without it', async () => {
    expect(await invoke(`/x?a=1&svc-proxy-key=${plain.key}&b=2`)).toMatchObject({ status: 200 });
    expect(shop.forwarded.url).toBe('/x?a=1&b=2');
  });
  it.each([
    ['none', {}, 400, 'proxy_key_missing'],
    ['an unknown one', { 'SVC-PROXY-KEY': 'A'.repeat(22) }, 404, 'not_found'],
    ['an empty one', noHeader, 404, 'not_found'],
  ])('%s is refused', async (_, headers, status, code) => {
    const answer = await invoke('', headers);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text)).toMatchObject({ proxy_error: { status, code } });
  });
  it('of another tenant is unknown', async () => {
    const key = { 'SVC-API-KEY': product.secondTenant.privateKey };
    expect(await plain.call({ headers: key })).toMatchObject({ status: 404, code: 'not_found' });
  });
});

describe('a proxy with require_auth', () => {
  it('true answers 401 to a call without an API key or with a wrong one', async () => {
    expect(await plain.call({ anonymous: true })).toMatchObject({
      status: 401,
      code: 'invalid_api_key',
    });
    const wrong = { 'SVC-API-KEY': 'key_wrong' };
    expect(await plain.call({ headers: wrong })).toMatchObject({
      status: 401,
      code: 'invalid_api_key',
    });
  });
  it('false lets everybody with the proxy key call it, and answers 401 to a wrong API key', async () => {
    const open = await shop.proxy({}, { require_auth: false });
    expect(await open.call({ anonymous: true })).toMatchObject({ status: 200 });
    const wrong = { 'SVC-API-KEY': 'key_wrong' };
    expect(await open.call({ headers: wrong })).toMatchObject({ status: 401 });
  });
});

describe('the permission token:use', () => {
  it('is required even when no token is detokenized', async () => {
    const key = await keyOf({ container: '/', permissions: ['token:read'] });
    expect(await plain.call({ headers: { 'SVC-API-KEY': key } })).toMatchObject({
      status: 403,
      code: 'permission_denied',
    });
  });
  it('is required on each container of the tokens', async () => {
    const key = await keyOf({ container: '/mine/', permissions: ['token:use'] });
    const headers = { 'SVC-API-KEY': key };
    const [mine, other] = [await tokenIn('/mine/deep/'), await tokenIn('/other/')];
    expect(await plain.call({ headers, body: { a: `{{${mine}}}` } })).toMatchObject({
      status: 200,
    });
    expect(shop.forwarded.body).toBe('{"a":"plain"}');
    const both = { a: `{{${mine}}}`, b: `{{${other}}}` };
    expect(await plain.call({ headers, body: both })).toMatchObject({
      status: 403,
      code: 'permission_denied',
    });
    expect(shop.destination.received).toHaveLength(1);
  });
});

it('headers that the caller sets for the destination are forwarded', async () => {
  await plain.call({ headers: { Authorization: 'Bearer mine', 'X-Mine': 'a' } });
  expect(shop.forwarded.headers).toMatchObject({ authorization: 'Bearer mine', 'x-mine': 'a' });
});

describe('an expression {{<token_id>}}', () => {
  it('is detokenized in the body, the path, the query and headers', async () => {
    const expression = `{{${await tokenIn('/')}}}`;
    const inUrl = encodeURIComponent(expression);
    await plain.call({
      path: `/${inUrl}?a=${inUrl}`,
      headers: { ...form, 'X-Mine': expression },
      body: `card=${inUrl}`,
    });
    expect(shop.forwarded).toMatchObject({ url: '/plain?a=plain', body: 'card=plain' });
    expect(shop.forwarded.headers['x-mine']).toBe('plain');
  });
});

describe('the response of the destination', () => {
  it('is passed on with its status, headers and body, byte for byte', async () => {
    const packed = gzipSync('{ "a" : 1.0 }');
    shop.answer = (res) => {
      const headers = { ...asJson, 'content-encoding': 'gzip', 'x-theirs': '1' };
      res.writeHead(409, headers).end(packed);
    };
    const answer = await plain.call();
    expect([answer.status, answer.text]).toEqual([409, '{ "a" : 1.0 }']);
    expect(answer.headers.get('x-theirs')).toBe('1');
    expect(answer.headers.get('content-encoding')).toBe('gzip');
  });

  it.each([
    ['an invalid expression', '{{ not an id | }}', 400, 'invalid_expression'],
    ['an unknown token', '{{00000000-0000-4000-8000-000000000000}}', 400, 'unknown_token'],
  ])(
    'is replaced by proxy_error alone when the proxy itself fails: %s',
    async (_, text, status, code) => {
      const answer = await plain.call({ body: { a: text } });
      expect(answer).toMatchObject({ status, code });
      expect(Object.keys(JSON.parse(answer.text) as object)).toEqual(['proxy_error']);
      expect(answer.headers.get('content-type')).toBe('application/json');
      expect(shop.destination.received).toEqual([]);
    },
  );
});

describe('the transforms of a proxy', () => {
  const asIs = (code: string) => ({ code: `module.exports = ${code}` });

  it('are an async function of one object req that returns an object, on Node.js 16 by default', async () => {
    const code =
      'async (req) => ({ headers: {}, body: { keys: Object.keys(req), node: process.version } })';
    const proxy = await shop.proxy({}, { request_transform: asIs(code) });
    await proxy.call();
    expect(JSON.parse(shop.forwarded.body)).toEqual({
      keys: ['args', 'configuration', 'svc'],
      node: expect.stringMatching(/^v16\./) as string,
    });
  });

  it('support JSON and forms, on both sides', async () => {
    shop.answer = (res) => res.writeHead(200, form).end('b=2&c=3');
    const echo = 'async ({ args }) => ({ headers: args.headers, body: { ...args.body, more: 1 } })';
    const proxy = await shop.proxy(
      {},
      { request_transform: asIs(echo), response_transform: asIs(echo) },
    );
    const answer = await proxy.call({ headers: form, body: 'a=1' });
    expect(shop.forwarded.body).toBe('a=1&more=1');
    expect(answer.text).toBe('b=2&c=3&more=1');
    await proxy.call({ body: { a: 1 } });
    expect(shop.destination.received.at(-1)?.body).toBe('{"a":1,"more":1}');
  });

  it('see the query with its question mark, and the path after /proxy', async () => {
    const code = 'async ({ args: { path, query } }) => ({ headers: {}, body: { path, query } })';
    const proxy = await shop.proxy({}, { request_transform: asIs(code) });
    await proxy.call({ path: '/a?b=%7e' });
    expect(shop.forwarded.body).toBe('{"path":"/a","query":"?b=%7e"}');
  });

  it('may tokenize if their application may, and get an error if it may not', async () => {
    const { id } = await create(
      product,
      '/applications',
      { name: 'no', type: 'private', permissions: ['token:read'] },
      product.adminKey,
    );
    const code = `async ({ svc }) => {
      const token = await svc.tokenize({ type: 'token', data: 'x' }).catch((error) => ({ refused: error.status }));
      return { headers: {}, body: { ...token } };
    }`;
    const may = await shop.proxy(
      {},
      { request_transform: asIs(code), application: { id: shop.applicationId } },
    );
    await may.call();
    expect(JSON.parse(shop.forwarded.body)).toMatchObject({
      type: 'token',
      id: expect.any(String) as string,
    });
    const mayNot = await shop.proxy({}, { request_transform: asIs(code), application: { id } });
    await mayNot.call();
    expect(shop.destination.received.at(-1)?.body).toBe('{"refused":403}');
  });
});
