import { randomUUID } from 'node:crypto';
import { call, create, reactorOf, runningProduct, type Answer } from '../product';
import { startReceiver, type Receiver } from '../receiver';
import { eachIsTold } from './told';

const product = runningProduct();
const { baseUrl, adminKey, privateKey } = product;
const unknownMembers = 'svc-unknown-members';
const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2034 };

let receiver: Receiver;
let proxy: { readonly id: string; readonly key: string };
let stepped: { readonly id: string; readonly key: string };
let reactor: string;
let formula: string;
let application: string;
let tokenId: string;

beforeAll(async () => {
  receiver = await startReceiver();
  const body = { name: 'told', destination_url: receiver.url };
  proxy = (await create(product, '/proxies', body)) as never;
  const steps = [{ type: 'remove', options: { location: 'body', path: '$.a' } }];
  const withSteps = { ...body, request_transforms: steps };
  stepped = (await create(product, '/proxies', withSteps)) as never;
  reactor = await reactorOf(product, 'module.exports = async () => ({ raw: {} })');
  const { body: shown } = await call('GET', `${baseUrl}/reactors/${reactor}`, { key: adminKey });
  formula = (shown.formula as { id: string }).id;
  const rules = [{ priority: 1, container: '/', transform: 'mask', permissions: ['token:use'] }];
  application = (await create(product, '/applications', { name: 'a', type: 'private', rules })).id;
  tokenId = (await create(product, '/tokens', { type: 'card', data: card }, privateKey)).id;
});
afterAll(() => receiver.close());

const post = (path: string, body: unknown, key = adminKey): Promise<Answer> =>
  call('POST', baseUrl + path, { key, body });

const postToken = (body: object, key?: string): Promise<Answer> =>
  post('/tokens', body, key ?? privateKey);

const patch = (path: string, body: unknown): Promise<Answer> =>
  call('PATCH', baseUrl + path, {
    key: adminKey,
    body,
    headers: { 'Content-Type': 'application/merge-patch+json' },
  });

/** Sends a text as it is, under any content type. */
async function send(
  method: string,
  path: string,
  text: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const answer = await fetch(baseUrl + path, {
    method,
    headers: { 'SVC-API-KEY': privateKey, 'Content-Type': 'application/json', ...headers },
    body: Buffer.from(text),
  });
  const told = await answer.text();
  return { status: answer.status, headers: answer.headers, text: told, body: {} };
}

const proxied = (text: string, headers: Record<string, string> = {}): Promise<Answer> =>
  send('POST', '/proxy', text, { 'SVC-PROXY-KEY': proxy.key, ...headers });

const react = (body: object, headers: Record<string, string> = {}): Promise<Answer> =>
  call('POST', `${baseUrl}/reactors/${reactor}/react`, { key: privateKey, body, headers });

const withSteps = (...steps: readonly object[]): Promise<Answer> =>
  post('/proxies', { name: 'p', destination_url: receiver.url, request_transforms: steps });

const withUrl = (url: string): Promise<Answer> =>
  post('/proxies', { name: 'p', destination_url: url });

async function keyUnder(rule: object, more: object = {}): Promise<string> {
  const body = { name: 'a', type: 'private', rules: [{ priority: 1, transform: 'mask', ...rule }] };
  return String((await create(product, '/applications', { ...body, ...more })).key);
}

describe('a mistake in a member', () => {
  eachIsTold([
    {
      mistake: 'metdata of a token',
      make: () => postToken({ data: 'x', metdata: { a: 'b' } }),
      status: 201,
      header: unknownMembers,
      says: /^metdata$/,
    },
    {
      mistake: 'metdata of a token, where the caller is strict',
      make: () =>
        call('POST', `${baseUrl}/tokens`, {
          key: privateKey,
          body: { data: 'x', metdata: { a: 'b' } },
          headers: { 'SVC-STRICT': 'true' },
        }),
      status: 400,
      says: /"metdata":\["is not a member; did you mean metadata\?"\]/,
    },
    {
      mistake: 'container of a token',
      make: () => postToken({ data: 'x', container: '/pci/high/' }),
      status: 201,
      header: unknownMembers,
      says: /^container$/,
    },
    {
      mistake: 'nmae in a PATCH',
      make: () => patch(`/proxies/${proxy.id}`, { nmae: 'x' }),
      status: 204,
      header: unknownMembers,
      says: /^nmae$/,
    },
    {
      mistake: 'a member of a step that nothing reads',
      make: () =>
        withSteps({ type: 'remove', options: { location: 'body', path: '$.a', when: 'x' } }),
      status: 201,
      header: unknownMembers,
      says: /^request_transforms\.0\.options\.when$/,
    },
    {
      mistake: 'arsg of an invocation',
      make: () => react({ arsg: {} }),
      status: 200,
      header: unknownMembers,
      says: /^arsg$/,
    },
    {
      mistake: 'arsg of an invocation, where the caller is strict',
      make: () => react({ arsg: {} }, { 'SVC-STRICT': 'true' }),
      status: 400,
      says: /"arsg":\["is not a member; did you mean args\?"\]/,
    },
    {
      mistake: 'a filter of a replay that is none',
      make: () => post('/webhook-deliveries/replay', { filter: { reactorid: randomUUID() } }),
      status: 400,
      says: /"filter\.reactorid":\["is not a member; did you mean reactor_id\?"\]/,
    },
    {
      mistake: 'no body',
      make: () => call('POST', `${baseUrl}/tokens`, { key: privateKey }),
      status: 400,
      says: /"data":\["is required"\]/,
    },
    {
      mistake: 'the type credit_card',
      make: () => postToken({ type: 'credit_card', data: card }),
      status: 400,
      says: /must be token, card, bank, card_number, us_bank_account_number, us_bank_routing_number, social_security_number or employer_id_number/,
    },
    {
      mistake: 'a card number with spaces',
      make: () => postToken({ type: 'card', data: { number: '4242 4242 4242 4242' } }),
      status: 400,
      says: /string of 12 to 19 digits with a valid check digit/,
    },
    {
      mistake: 'a year of two digits',
      make: () => postToken({ type: 'card', data: { ...card, expiration_year: 30 } }),
      status: 400,
      says: /must be a year of 4 digits/,
    },
    {
      mistake: 'a number in metadata',
      make: () => postToken({ data: 'x', metadata: { order: 'a', amount: 7 } }),
      status: 400,
      says: /must have only string values, without NUL, unlike `amount`/,
    },
    {
      mistake: 'a container without its slashes',
      make: () => postToken({ data: 'x', containers: ['pci'] }),
      status: 400,
      says: /such as \/pci\/high\//,
    },
    {
      mistake: 'a time without an offset',
      make: () => postToken({ data: 'x', expires_at: '2034-01-01T00:00:00' }),
      status: 400,
      says: /ISO 8601 time with an offset or Z/,
    },
    {
      mistake: 'a time that has passed',
      make: () => postToken({ data: 'x', expires_at: '2020-01-01T00:00:00Z' }),
      status: 400,
      says: /in the future/,
    },
    {
      mistake: 'an id that exists',
      make: () => postToken({ id: tokenId, data: 'x' }),
      status: 409,
      says: /exists already/,
    },
    {
      mistake: 'the permission tokens:read',
      make: () =>
        post('/applications', {
          name: 'a',
          type: 'private',
          permissions: ['token:use', 'tokens:read'],
        }),
      status: 400,
      says: /"permissions":\["tokens:read is no permission; did you mean token:read\?"\]/,
    },
    {
      mistake: 'a permission that the type may not hold',
      make: () => post('/applications', { name: 'a', type: 'public', permissions: ['token:read'] }),
      status: 400,
      says: /token:read cannot be held by an application of type public/,
    },
    {
      mistake: 'an application without permissions and rules',
      make: () => post('/applications', { name: 'a', type: 'private' }),
      status: 400,
      says: /must not be empty unless there are rules/,
    },
    {
      mistake: 'a rule with another transform',
      make: () =>
        post('/applications', {
          name: 'a',
          type: 'private',
          rules: [{ priority: 1, container: '/', transform: 'show', permissions: ['token:use'] }],
        }),
      status: 400,
      says: /"rules\.0\.transform":\["must be reveal, mask or redact"\]/,
    },
    {
      mistake: 'a certificate that is none',
      make: () =>
        post('/proxies', {
          name: 'p',
          destination_url: receiver.url,
          client_certificate: { certificate: 'x', private_key: 'y' },
        }),
      status: 400,
      says: /client_certificate\.certificate/,
    },
    {
      mistake: 'a list in place of a merge patch',
      make: () => patch(`/proxies/${proxy.id}`, [{ op: 'remove', path: '/name' }]),
      status: 400,
      says: /"errors":\{"body":\["must be a JSON object"\]\}/,
    },
    {
      mistake: 'a formula that is in use',
      make: () => call('DELETE', `${baseUrl}/reactor-formulas/${formula}`, { key: adminKey }),
      status: 409,
      says: /use this formula/,
    },
    {
      mistake: 'an idempotency key that was used with another body',
      make: async () => {
        const headers = { 'SVC-IDEMPOTENCY-KEY': randomUUID() };
        const once = (name: string): Promise<Answer> =>
          call('POST', `${baseUrl}/proxies`, {
            key: adminKey,
            body: { name, destination_url: receiver.url },
            headers,
          });
        await once('one');
        return once('other');
      },
      status: 422,
      says: /used with another body/,
    },
  ]);
});

describe('a mistake in JSON or its type', () => {
  eachIsTold([
    {
      mistake: 'no content type',
      make: () => send('POST', '/tokens', '{"data":1}', { 'Content-Type': '' }),
      status: 415,
      says: /must be application\/json/,
    },
    {
      mistake: 'a PATCH as application/json',
      make: () => send('PATCH', `/tokens/${tokenId}`, '{}'),
      status: 415,
      says: /must be application\/merge-patch\+json/,
    },
    {
      mistake: 'a PATCH as JSON Patch',
      make: () =>
        send('PATCH', `/tokens/${tokenId}`, '[]', {
          'Content-Type': 'application/json-patch+json',
        }),
      status: 415,
      says: /must be application\/merge-patch\+json/,
    },
    {
      mistake: 'a comma behind the last member',
      make: () => send('POST', '/tokens', '{\n  "data": 1,\n}'),
      status: 400,
      says: /Unexpected } at line 3, character 1\./,
    },
    {
      mistake: 'single quotes',
      make: () => send('POST', '/tokens', "{'data': 1}"),
      status: 400,
      says: /Unexpected ' at line 1, character 2\./,
    },
    {
      mistake: 'single quotes in an invocation',
      make: () => send('POST', `/reactors/${reactor}/react`, "{'args': {}}"),
      status: 400,
      says: /Unexpected ' at line 1, character 2\./,
    },
    {
      mistake: 'a comma too many under steps',
      make: () => proxied('{"a": 1,}', { 'SVC-PROXY-KEY': stepped.key }),
      status: 400,
      says: /Unexpected } at line 1, character 9\./,
    },
    {
      mistake: 'a comma too many behind an expression, in the place that the caller knows',
      make: () =>
        proxied(`{"a": "{{ ${tokenId} | json: '$.number' }}",}`, { 'SVC-PROXY-KEY': stepped.key }),
      status: 400,
      says: /Unexpected } at line 1, character 71\./,
    },
    {
      mistake: 'a member twice',
      make: () => send('POST', '/tokens', '{"data":1,"data":2}'),
      status: 400,
      says: /has a duplicate member at line 1, character 11\./,
    },
    {
      mistake: 'a reserved name',
      make: () => send('POST', '/proxies', '{"__proto__":1}', { 'SVC-API-KEY': adminKey }),
      status: 400,
      says: /reserved name at line 1, character 2\./,
    },
    {
      mistake: 'a number that loses digits',
      make: () => send('POST', '/tokens', '{"data":12345678901234567890123}'),
      status: 400,
      says: /cannot be kept exactly, and may be sent as a string, at line 1, character 9\./,
    },
  ]);
});

describe('a mistake in an expression, a filter or a search', () => {
  eachIsTold([
    {
      mistake: 'a search index that does not begin with data',
      make: () => postToken({ type: 'card', data: card, search_indexes: ['{{ number | last4 }}'] }),
      status: 400,
      says: /"search_indexes\.0":\["The expression at character 0 begins with `number`; expressions here begin with `data`\."\]/,
    },
    {
      mistake: 'the filter lastfour in a mask',
      make: () => postToken({ data: 'abcdef', mask: '{{ data | lastfour }}' }),
      status: 400,
      says: /character 0, `lastfour` is no filter\. Did you mean last4\?/,
    },
    {
      mistake: 'the filter jsn in a proxied body',
      make: () => proxied(JSON.stringify({ a: `{{ ${tokenId} | jsn: '$.number' }}` })),
      status: 400,
      says: /character 6, `jsn` is no filter\. Did you mean json\?/,
    },
    {
      mistake: 'a filter with wrong arguments',
      make: () => proxied(JSON.stringify({ a: `{{ ${tokenId} | last4: 4 }}` })),
      status: 400,
      says: /the filter last4 has wrong arguments\./,
    },
    {
      mistake: 'a path that matches nothing',
      make: () => proxied(JSON.stringify({ a: `{{ ${tokenId} | json: '$.numbr' }}` })),
      status: 400,
      says: /the path of `json` matches nothing\./,
    },
    {
      mistake: 'a path that matches several values',
      make: () => proxied(JSON.stringify({ a: `{{ ${tokenId} | json: '$.*' }}` })),
      status: 400,
      says: /the path of `json` matches several values\./,
    },
    {
      mistake: 'an expression without quotes',
      make: () => proxied(`{"a": {{ ${tokenId} }} }`),
      status: 400,
      says: /stands outside of a JSON string/,
    },
    {
      mistake: 'the query typ',
      make: () => call('GET', `${baseUrl}/tokens?typ=card`, { key: privateKey }),
      status: 400,
      says: /"typ":\["is not a filter of this list; did you mean type\?"\]/,
    },
    {
      mistake: 'a search that is malformed',
      make: () => post('/tokens/search', { query: 'type:card AND' }, privateKey),
      status: 400,
      says: /is malformed at character 14/,
    },
    {
      mistake: 'a field of a search that is none',
      make: () => post('/tokens/search', { query: 'kind:card' }, privateKey),
      status: 400,
      says: /the fields are data, id, type, container, fingerprint and metadata\.NAME/,
    },
  ]);
});

describe('a mistake in a URL', () => {
  eachIsTold([
    {
      mistake: 'a destination at a private address',
      make: () => withUrl('https://10.1.2.3/x'),
      status: 400,
      says: /is not a public address; the operator may allow it with EGRESS_ALLOW=10\.1\.2\.3:443/,
    },
    {
      mistake: 'a callback at a private address',
      make: () => react({ callback_url: 'https://10.1.2.3:8443/hook' }),
      status: 400,
      says: /is not a public address; the operator may allow it with EGRESS_ALLOW=10\.1\.2\.3:8443/,
    },
    {
      mistake: 'a callback without a scheme',
      make: () => react({ callback_url: 'localhost:3000' }),
      status: 400,
      says: /has no scheme: it must begin with https:\/\//,
    },
    {
      mistake: 'plain http to a public address',
      make: () => withUrl('http://8.8.8.8/'),
      status: 400,
      says: /must be an https URL/,
    },
    {
      mistake: 'a callback by plain http to a public address',
      make: () => react({ callback_url: 'http://8.8.8.8/' }),
      status: 400,
      says: /must be an https URL/,
    },
  ]);
});

describe('a mistake in a step or transform', () => {
  eachIsTold([
    {
      mistake: 'a type that is none',
      make: () => withSteps({ type: 'hide', options: {} }),
      status: 400,
      says: /"request_transforms\.0\.type":\["must be mask, tokenize, detokenize, append, remove"\]/,
    },
    {
      mistake: 'a path that is none',
      make: () => withSteps({ type: 'mask', options: { path: 'card', expression: 'x' } }),
      status: 400,
      says: /must be a JSONPath such as \$\.card\.number/,
    },
    {
      mistake: 'an expression that begins otherwise',
      make: () => withSteps({ type: 'mask', options: { path: '$.a', expression: '{{ a }}' } }),
      status: 400,
      says: /begins with `a`; expressions here begin with `\$` or `@`\./,
    },
    {
      mistake: 'a location that is none',
      make: () => withSteps({ type: 'remove', options: { location: 'path', name: 'a' } }),
      status: 400,
      says: /must be header, query, body/,
    },
    {
      mistake: 'a token of a type that is none',
      make: () =>
        withSteps({ type: 'tokenize', options: { path: '$.a', token: { type: 'credit_card' } } }),
      status: 400,
      says: /"request_transforms\.0\.options\.token\.type":\["must be token, card, bank/,
    },
    {
      mistake: 'a step that tokenizes without an application',
      make: () => withSteps({ type: 'tokenize', options: { path: '$.a', token: {} } }),
      status: 400,
      says: /"application\.id":\["is required by a step that tokenizes"\]/,
    },
    {
      mistake: 'a transform that does not compile',
      make: () =>
        post('/proxies', {
          name: 'p',
          destination_url: receiver.url,
          application: { id: application },
          request_transform: { code: 'module.exports = (' },
        }),
      status: 422,
      says: /"request_transform\.code"/,
    },
  ]);
});

describe('a mistake in what a key may do', () => {
  eachIsTold([
    {
      mistake: 'a token in a container that no rule covers',
      make: async () =>
        postToken(
          { data: 'x' },
          await keyUnder({ container: '/pci/', permissions: ['token:create'] }),
        ),
      status: 403,
      says: /The permission token:create is needed for the container \/general\/high\/\./,
    },
    {
      mistake: 'the reading of a token in such a container',
      make: async () =>
        call('GET', `${baseUrl}/tokens/${tokenId}`, {
          key: await keyUnder({ container: '/general/', permissions: ['token:read'] }),
        }),
      status: 403,
      says: /The permission token:read is needed for the container \/pci\/high\/\./,
    },
    {
      mistake: 'the use of a token in such a container',
      make: async () =>
        proxied(JSON.stringify({ a: `{{ ${tokenId} }}` }), {
          'SVC-API-KEY': await keyUnder({ container: '/general/', permissions: ['token:use'] }),
        }),
      status: 403,
      says: /The permission token:use is needed for the container \/pci\/high\/\./,
    },
    {
      mistake: 'a token without a mask under a rule that masks',
      make: async () => {
        const { id } = await create(product, '/tokens', { data: 'x' }, privateKey);
        const key = await keyUnder({ container: '/', permissions: ['token:read'] });
        return post('/detokenize', { a: `{{ ${id} }}` }, key);
      },
      status: 403,
      says: /gives the mask of a token, and one of them has none/,
    },
  ]);
});
