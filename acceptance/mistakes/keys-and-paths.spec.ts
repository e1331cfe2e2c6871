import { randomUUID } from 'node:crypto';
import { call, create, runningProduct, type Answer } from '../product';
import { talk } from '../raw-socket';
import { startReceiver, type Receiver } from '../receiver';
import { eachIsTold } from './told';

const product = runningProduct();
const { baseUrl, adminKey, privateKey } = product;
const json = { 'Content-Type': 'application/json' };
const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 };
/** Stands where a caller could have written data. No answer repeats it. */
const planted = 'planted-7f3a';

let destination: Receiver;
let destinationAnswer = '{"received":true}';

beforeAll(async () => {
  destination = await startReceiver((res) => res.writeHead(200, json).end(destinationAnswer));
});
beforeEach(() => {
  destination.received.length = 0;
  destinationAnswer = '{"received":true}';
});
afterAll(() => destination.close());

const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  call('GET', `${baseUrl}${path}`, { headers });
const asPrivate = (method: string, path: string, body?: unknown): Promise<Answer> =>
  call(method, `${baseUrl}${path}`, { key: privateKey, ...(body === undefined ? {} : { body }) });
const asManager = (method: string, path: string, body?: unknown): Promise<Answer> =>
  call(method, `${baseUrl}${path}`, { key: adminKey, ...(body === undefined ? {} : { body }) });

const proxyOf = async (more: object = {}): Promise<{ id: string; key: string }> => {
  const proxy = { name: 'mistaken', destination_url: destination.url, ...more };
  return (await create(product, '/proxies', proxy)) as { id: string; key: string };
};
const through = (
  proxyKey: string,
  { body, ...options }: { key?: string; body?: unknown; path?: string } = {},
): Promise<Answer> =>
  call('POST', `${baseUrl}/proxy${options.path ?? ''}`, {
    key: options.key ?? privateKey,
    headers: { 'SVC-PROXY-KEY': proxyKey },
    ...(body === undefined ? {} : { body }),
  });

describe('keys', () => {
  const send = 'Send the key of an application in the header SVC-API-KEY\\.';
  const wrongKey = `key_${'0'.repeat(33)}`;

  eachIsTold([
    { mistake: 'no key', make: () => get('/tokens'), status: 401, says: RegExp(`"${send}"`) },
    {
      mistake: 'no key for a reactor',
      make: () => call('POST', `${baseUrl}/reactors/${randomUUID()}/react`, { body: {} }),
      status: 401,
      says: RegExp(`"${send}"`),
    },
    {
      mistake: 'no key for a proxy',
      make: async () => get('/proxy', { 'SVC-PROXY-KEY': (await proxyOf()).key }),
      status: 401,
      says: RegExp(`"proxy_error":.*"${send}"`),
    },
    {
      mistake: 'an empty key',
      make: () => get('/tokens', { 'SVC-API-KEY': '' }),
      status: 401,
      says: /The API key is empty/,
    },
    {
      mistake: 'a mistyped key',
      make: () => get('/tokens', { 'SVC-API-KEY': wrongKey }),
      status: 401,
      says: /mistyped or cut off/,
    },
    {
      mistake: 'the key of another prefix',
      make: () => get('/tokens', { 'XY-API-KEY': privateKey }),
      status: 401,
      says: RegExp(`${send} XY-API-KEY is not read: XY is missing in HEADER_PREFIXES`),
    },
    {
      mistake: 'Authorization: Bearer',
      make: () => get('/tokens', { Authorization: `Bearer ${privateKey}` }),
      status: 401,
      says: RegExp(`"Authorization is not read\\. ${send}"`),
    },
    {
      mistake: 'Authorization: Bearer for a reactor',
      make: () =>
        call('POST', `${baseUrl}/reactors/${randomUUID()}/react`, {
          body: {},
          headers: { Authorization: `Bearer ${privateKey}` },
        }),
      status: 401,
      says: RegExp(`"Authorization is not read\\. ${send}"`),
    },
    {
      mistake: 'a management key for tokens',
      make: () => asManager('POST', '/tokens', { type: 'token', data: planted }),
      status: 403,
      says: /permission token:create is needed\. Applications of type management cannot hold it; use a private one\./,
    },
    {
      mistake: 'a management key for a reactor',
      make: () => asManager('POST', `/reactors/${randomUUID()}/react`, {}),
      status: 403,
      says: /permission token:use is needed\. Applications of type management cannot hold it; use a private one\./,
    },
    {
      mistake: 'a private key for proxies',
      make: () => asPrivate('POST', '/proxies', {}),
      status: 403,
      says: /permission proxy:create is needed/,
    },
  ]);

  it('are in no answer about them', async () => {
    for (const headers of [
      { Authorization: `Bearer ${planted}` },
      { 'XY-API-KEY': planted },
      { 'SVC-API-KEY': planted },
      { 'SVC-API-KEY': privateKey.slice(0, -1) },
    ] as Record<string, string>[]) {
      for (const path of ['/tokens', `/proxy?svc-proxy-key=${planted}`]) {
        const { text } = await get(path, headers);
        expect(text).not.toContain(planted);
        expect(text).not.toContain(privateKey.slice(4, 20));
      }
    }
  });
});

describe('paths and methods', () => {
  eachIsTold([
    {
      mistake: 'PUT /tokens',
      make: () => asPrivate('PUT', '/tokens', {}),
      status: 405,
      says: /"Use (?=[^.]*GET)(?=[^.]*POST)[A-Z, ]+ or [A-Z]+\."/,
    },
    {
      mistake: 'PUT /tokens, in Allow',
      make: () => asPrivate('PUT', '/tokens', {}),
      status: 405,
      header: 'allow',
      says: /^(?=.*\bGET\b)(?=.*\bPOST\b)/,
    },
    {
      mistake: 'GET of react',
      make: () => asPrivate('GET', `/reactors/${randomUUID()}/react`),
      status: 405,
      says: /"Use POST\."/,
    },
    {
      mistake: 'GET of react, in Allow',
      make: () => asPrivate('GET', `/reactors/${randomUUID()}/react`),
      status: 405,
      header: 'allow',
      says: /^POST$/,
    },
    {
      mistake: 'a doubled slash',
      make: () => asPrivate('GET', '//tokens'),
      status: 404,
      says: /There is no such path\. Did you mean \/tokens\?/,
    },
    {
      mistake: '/token',
      make: () => asPrivate('GET', '/token'),
      status: 404,
      says: /There is no such path\. Did you mean \/tokens\?/,
    },
    {
      mistake: '/v1/tokens',
      make: () => asPrivate('GET', '/v1/tokens'),
      status: 404,
      says: /There is no such path\. Did you mean \/tokens\?/,
    },
    {
      mistake: 'a path that is near none',
      make: () => asPrivate('GET', `/${planted}?${planted}=${planted}`),
      status: 404,
      says: /There is no such path\. GET \/docs lists all\./,
    },
    {
      mistake: '/Tokens',
      make: () => asPrivate('GET', '/Tokens'),
      status: 404,
      says: /Letter case counts: \/tokens"/,
    },
    {
      mistake: '/Reactors/{id}/react',
      make: () => asPrivate('POST', `/Reactors/${randomUUID()}/react`, {}),
      status: 404,
      says: /Letter case counts: \/reactors\/\{id\}\/react"/,
    },
    {
      mistake: '/Proxy',
      make: () => call('POST', `${baseUrl}/Proxy/orders`, { key: privateKey, body: {} }),
      status: 404,
      says: /Letter case counts: \/proxy"/,
    },
    {
      mistake: 'an unknown path without a key',
      make: () => get('/Tokens'),
      status: 404,
      says: /Letter case counts: \/tokens"/,
    },
    ...[
      ['/tokens', 'token', privateKey],
      ['/proxies', 'proxy', adminKey],
      ['/reactors', 'reactor', adminKey],
      ['/reactor-formulas', 'reactor formula', adminKey],
      ['/applications', 'application', adminKey],
    ].map(([path = '', noun = '', key = '']) => ({
      mistake: `an id that names no ${noun}`,
      make: () => call('GET', `${baseUrl}${path}/${randomUUID()}`, { key }),
      status: 404,
      says: RegExp(`"There is no ${noun} with this id\\."`),
    })),
    {
      mistake: 'an id that names no reactor, invoked',
      make: () => asPrivate('POST', `/reactors/${randomUUID()}/react`, {}),
      status: 404,
      says: /"There is no reactor with this id\."/,
    },
  ]);

  it('TRACE is 405, with the methods that are passed on', async () => {
    const answer = await talk(
      baseUrl,
      'TRACE /tokens HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 405 /);
    expect(answer).toMatch(/^allow: .*POST/im);
    expect(answer).toMatch(/"detail":"Use [^"]*POST/);
  });

  it.each(['/tokens', '/proxies', '/health/live'])(
    'a slash at the end changes nothing: %s',
    async (path) => {
      const key = path === '/proxies' ? adminKey : privateKey;
      for (const method of ['GET', 'PUT']) {
        const [plain, slashed] = await Promise.all(
          [path, `${path}/`].map((one) => call(method, `${baseUrl}${one}`, { key })),
        );
        expect([method, slashed?.status]).toEqual([method, plain?.status]);
      }
    },
  );

  it('a path of 30 KB is answered, and not repeated', async () => {
    for (const path of [
      `/${planted.repeat(2_500)}`,
      `/tokens${'/a'.repeat(15_000)}`,
      '/'.repeat(30_000),
    ]) {
      const answer = await asPrivate('GET', path);
      expect([answer.status, answer.text]).toEqual([404, expect.not.stringContaining(planted)]);
    }
  });
});

describe('proxies', () => {
  eachIsTold([
    {
      mistake: 'no proxy key',
      make: () => asPrivate('POST', '/proxy/orders', {}),
      status: 400,
      says: /"proxy_key_missing".*Send `key` of the proxy in the header SVC-PROXY-KEY/,
    },
    {
      mistake: 'the proxy key of another prefix',
      make: () =>
        call('POST', `${baseUrl}/proxy`, { key: privateKey, headers: { 'XY-PROXY-KEY': planted } }),
      status: 400,
      says: /XY-PROXY-KEY is not read: XY is missing in HEADER_PREFIXES/,
    },
    {
      mistake: 'the id of a proxy for its key',
      make: async () => through((await proxyOf()).id, { body: {} }),
      status: 404,
      says: /This is an id\. Calls take `key` of the proxy\./,
    },
    {
      mistake: 'any id for a key',
      make: () => through(randomUUID(), { body: {} }),
      status: 404,
      says: /This is an id\. Calls take `key` of the proxy\./,
    },
    {
      mistake: 'SVC-PROXY-URL where it is off',
      make: () =>
        call('GET', `${baseUrl}/proxy`, {
          key: privateKey,
          headers: { 'SVC-PROXY-URL': destination.url },
        }),
      status: 403,
      says: /set `enable_ephemeral_proxy` to `true`/,
    },
    {
      mistake: 'a collected field that was renamed',
      make: async () => {
        const { id } = await application();
        const step = {
          type: 'tokenize',
          options: { path: '$.card', token: { type: 'card' }, required: true },
        };
        const steps = { application: { id }, request_transforms: [step] };
        const { key } = await proxyOf(steps);
        const answer = await through(key, { body: { payment_card: card } });
        expect(answer.text).not.toContain('4242');
        expect(destination.received).toEqual([]);
        return answer;
      },
      status: 400,
      says: /"invalid_request".*lacks a value that a step of the proxy requires.*"request_transforms\.0 is required, and its path matches nothing"/,
    },
    {
      mistake: 'a collected body that is missing',
      make: async () => {
        const { key } = await proxyOf({ request_transforms: [masked('$.card.number')] });
        const answer = await through(key);
        expect(destination.received).toEqual([]);
        return answer;
      },
      status: 400,
      says: /lacks a value that a step of the proxy requires/,
    },
    {
      mistake: 'a collected field that the destination renamed',
      make: async () => {
        destinationAnswer = JSON.stringify({ payment_card: card });
        const { key } = await proxyOf({ response_transforms: [masked('$.card.number')] });
        const answer = await through(key, { body: {} });
        expect(answer.text).not.toContain('4242');
        expect(answer.headers.get('svc-proxy-destination-status')).toBe('200');
        return answer;
      },
      status: 502,
      says: /"destination_answer_invalid".*delivered \(200\).*a step of the proxy requires.*"response_transforms\.0 is required, and its path matches nothing"/,
    },
  ]);

  it('forward a single brace as it is', async () => {
    const { key } = await proxyOf();
    const body = { card: `{ ${randomUUID()} }` };
    expect((await through(key, { body })).status).toBe(200);
    expect(JSON.parse(destination.received[0]?.body ?? '')).toEqual(body);
  });

  it('pass on what an optional step does not find', async () => {
    const { required: _, ...options } = masked('$.card.number').options;
    const { key } = await proxyOf({ request_transforms: [{ type: 'mask', options }] });
    expect((await through(key, { body: { other: 1 } })).status).toBe(200);
    expect(destination.received).toHaveLength(1);
  });

  const masked = (path: string) => ({
    type: 'mask',
    options: { path, expression: '{{ @ | reveal_last: 4 }}', required: true },
  });
});

const application = (): Promise<{ id: string; key?: unknown }> =>
  create(product, '/applications', {
    name: 'short-lived',
    type: 'private',
    permissions: ['token:create', 'token:use'],
  });

/** Calls a proxy whose application has been deleted by force. Nothing is forwarded. */
async function callWithoutApplication(transforms: object): Promise<Answer> {
  const { id } = await application();
  const { key } = await proxyOf({ application: { id }, ...transforms });
  await asManager('DELETE', `/applications/${id}?force=true`);
  const answer = await through(key, { body: { card } });
  expect(destination.received).toEqual([]);
  return answer;
}

describe('a deleted application', () => {
  it('is kept while it is in use, unless it is deleted by force', async () => {
    const { id } = await application();
    const proxy = await proxyOf({ application: { id } });
    const refused = await asManager('DELETE', `/applications/${id}`);
    expect([refused.status, refused.body]).toMatchObject([
      409,
      {
        code: 'conflict',
        detail: expect.stringContaining('?force=true') as string,
        errors: { proxies: [proxy.id] },
      },
    ]);
    expect((await asManager('DELETE', `/applications/${id}?force=true`)).status).toBe(204);
    const { body } = await asManager('GET', `/proxies/${proxy.id}`);
    expect(body).toMatchObject({ application_id: id });
  });

  eachIsTold([
    {
      mistake: 'a step that needs the application of its proxy',
      make: () =>
        callWithoutApplication({
          request_transforms: [
            { type: 'tokenize', options: { path: '$.card', token: { type: 'card' } } },
          ],
        }),
      status: 409,
      says: /"application_gone".*"The application of this proxy is gone\./,
    },
    {
      mistake: 'code that needs the application of its proxy',
      make: () => {
        const code =
          'module.exports = async ({ args, svc }) => ({ ...args, body: await svc.tokenize(args.body) });';
        return callWithoutApplication({ request_transform: { code, runtime: 'node20' } });
      },
      status: 409,
      says: /"application_gone".*"The application of this proxy is gone\./,
    },
    {
      mistake: 'a reactor whose application is gone',
      make: async () => {
        const { id } = await application();
        const formula = await create(product, '/reactor-formulas', {
          name: 'storing',
          code: 'module.exports = async () => ({ tokenize: { a: 1 } });',
        });
        const reactor = await create(product, '/reactors', {
          name: 'storing',
          formula: { id: formula.id },
          configuration: {},
          application: { id },
        });
        await asManager('DELETE', `/applications/${id}?force=true`);
        return asPrivate('POST', `/reactors/${reactor.id}/react`, {});
      },
      status: 409,
      says: /"application_gone".*"The application of this reactor is gone\./,
    },
    {
      mistake: 'a partner with the key of a deleted application',
      make: async () => {
        const { id, key } = await application();
        const proxy = await proxyOf();
        expect((await through(proxy.key, { key: String(key), body: {} })).status).toBe(200);
        await asManager('DELETE', `/applications/${id}`);
        return through(proxy.key, { key: String(key), body: {} });
      },
      status: 401,
      says: /No application has this key: .*its application was deleted/,
    },
    {
      mistake: 'the same at the management API',
      make: async () => {
        const { id, key } = await application();
        await asManager('DELETE', `/applications/${id}`);
        return get('/tokens', { 'SVC-API-KEY': String(key) });
      },
      status: 401,
      says: /No application has this key: .*its application was deleted/,
    },
  ]);
});
