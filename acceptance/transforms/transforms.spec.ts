import { createHmac } from 'node:crypto';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { call, create, runningProduct } from '../product';
import { Workshop } from './transforming';

const product = runningProduct();
const { privateKey } = product;
const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 };
const form = 'application/x-www-form-urlencoded';
const asJson = { 'content-type': 'application/json' };
/** Returns the input of the code as the body of the request or the answer. */
const show = `return { headers: { 'content-type': 'application/json' }, body: { seen: args } };`;
const echo = `return { headers: args.headers, body: args.body };`;
const errors = `const errors = require('@svc/reactor-errors');`;

let shop: Workshop;

beforeAll(async () => {
  shop = await Workshop.open(product);
});
afterEach(() => shop.reset());
afterAll(() => shop.close());

const seen = (text: string) => (JSON.parse(text) as { seen: Record<string, unknown> }).seen;
const token = async (data: unknown): Promise<string> =>
  (await create(product, '/tokens', { type: 'token', data }, privateKey)).id;

describe('a request transform', () => {
  it('sees the body as an object, headers, method, path and query, expressions filled in', async () => {
    const expression = `{{${await token('plain')}}}`;
    const proxy = await shop.proxy({ request: show });
    await proxy.call({
      method: 'PATCH',
      path: `/a/b?c=${encodeURIComponent(expression)}`,
      headers: { 'X-Mine': expression },
      body: { card: expression },
    });
    const { method, url, body } = shop.forwarded;
    expect([method, url]).toEqual(['PATCH', '/a/b?c=plain']);
    expect(seen(body)).toMatchObject({
      body: { card: 'plain' },
      raw_body: JSON.stringify({ card: expression }),
      method: 'PATCH',
      path: '/a/b',
      query: '?c=plain',
      headers: { 'x-mine': 'plain', ...asJson },
    });
  });

  it('sees no body, path or query when there is none', async () => {
    const proxy = await shop.proxy({
      request: `return { headers: {}, body: { absent: 'body' in args, path: args.path, query: args.query } };`,
    });
    await proxy.call();
    expect(shop.forwarded.body).toBe('{"absent":false,"path":"","query":""}');
  });

  it.each([
    ['a form', form, 'a=1&b=x+y&b=%C3%A9&c=', { a: '1', b: ['x y', 'é'], c: '' }],
    ['a JSON type of its own', 'application/vnd.mine+json; charset=utf-8', '{"a":1}', { a: 1 }],
    ['a list', 'application/json', '[1,2]', [1, 2]],
    ['text', 'text/plain', 'as it is', 'as it is'],
    ['XML', 'application/xml', '<a/>', '<a/>'],
    ['JSON with names of prototypes', 'application/json', '{"constructor":1}', { constructor: 1 }],
  ])('sees %s', async (_, type, text, body) => {
    const proxy = await shop.proxy({ request: show });
    await proxy.call({ headers: { 'content-type': type }, body: text });
    expect(seen(shop.forwarded.body)).toMatchObject({ body, raw_body: text });
  });

  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
  ] as const)('sees the content of a body packed with %s', async (encoding, pack) => {
    const proxy = await shop.proxy({
      request: `${echo.replace('args.body', '{ ...args.body, b: 2 }')}`,
    });
    await proxy.call({
      headers: { ...asJson, 'content-encoding': encoding },
      body: pack('{"a":1}'),
    });
    expect(shop.forwarded.body).toBe('{"a":1,"b":2}');
    expect(shop.forwarded.headers['content-encoding']).toBeUndefined();
    expect(shop.forwarded.headers['content-length']).toBe('13');
  });

  it('sees the configuration, and its application through svc', async () => {
    const proxy = await shop.proxy(
      {
        request: `
          const token = await svc.tokenize({ type: 'token', data: args.body.secret });
          return { headers: { ...args.headers, 'X-Key': configuration.key }, body: { token: token.id } };`,
      },
      { configuration: { key: 'k-1' }, application: { id: shop.applicationId } },
    );
    await proxy.call({ body: { secret: 'of mine' } });
    expect(shop.forwarded.headers['x-key']).toBe('k-1');
    const { token: id } = JSON.parse(shop.forwarded.body) as { token: string };
    const opened = await call('POST', `${product.baseUrl}/proxy`, {
      key: privateKey,
      headers: { 'SVC-PROXY-KEY': (await shop.proxy({})).key },
      body: { opened: `{{${id}}}` },
    });
    expect(opened.status).toBe(200);
    expect(shop.destination.received.at(-1)?.body).toBe('{"opened":"of mine"}');
  });

  it('has no svc without an application', async () => {
    const proxy = await shop.proxy({ request: `return { headers: {}, body: { svc } };` });
    await proxy.call();
    expect(shop.forwarded.body).toBe('{"svc":null}');
  });

  it('sees no API key, proxy key or other service header, in headers or query', async () => {
    const proxy = await shop.proxy({ request: show });
    await proxy.call({ path: `/?svc-proxy-key=${proxy.key}&a=1`, headers: { 'SVC-Other': 'x' } });
    const { body } = shop.forwarded;
    expect(body).not.toContain(proxy.key);
    expect(body).not.toContain(privateKey);
    expect(body.toLowerCase()).not.toContain('svc-');
    expect(seen(body)).toMatchObject({ query: '?a=1' });
  });

  it.each([
    [
      'an object as exactly its JSON',
      `{ b: 1, a: [1.50, 'é', null], '1': 2 }`,
      '{"1":2,"b":1,"a":[1.5,"é",null]}',
      'application/json',
    ],
    ['a text as it is', `'plain\\ntext'`, 'plain\ntext', undefined],
    ['nothing as no body', `undefined`, '', undefined],
    ['null as no body', `null`, '', undefined],
  ])('sends %s', async (_, body, text, type) => {
    const proxy = await shop.proxy({ request: `return { headers: {}, body: ${body} };` });
    expect((await proxy.call({ body: { a: 1 } })).status).toBe(200);
    expect(shop.forwarded.body).toBe(text);
    expect(shop.forwarded.headers['content-type']).toBe(type);
  });

  it('sends an object as a form when its content type says so', async () => {
    const proxy = await shop.proxy({
      request: `return {
        headers: { 'Content-Type': '${form}; charset=utf-8' },
        body: { a: 'x y', b: [1, true], c: null, d: '&=é' },
      };`,
    });
    await proxy.call();
    expect(shop.forwarded.body).toBe('a=x+y&b=1&b=true&d=%26%3D%C3%A9');
  });

  it('cannot set Host, headers of ours, hop-by-hop headers or the framing', async () => {
    const proxy = await shop.proxy({
      request: `return {
        headers: {
          Host: 'evil.example', 'SVC-API-KEY': 'x', 'Content-Length': '1', 'Transfer-Encoding': 'chunked',
          Connection: 'x-mine', TE: 'trailers', Upgrade: 'h2c', 'Keep-Alive': '1', Expect: '100-continue',
          'Content-Encoding': 'gzip', 'Proxy-Authorization': 'x', 'CDN-Loop': 'forged', Trailer: 'x-t', 'X-Mine': ['a', 'b'],
        },
        body: { a: 1 },
      };`,
    });
    const passed = { headers: { 'CDN-Loop': 'before.example' } };
    expect((await proxy.call(passed)).status).toBe(200);
    const { headers, body } = shop.forwarded;
    expect(body).toBe('{"a":1}');
    expect(headers).toEqual({
      host: new URL(shop.destination.url).host,
      connection: 'keep-alive',
      'content-type': 'application/json',
      'content-length': '7',
      'x-mine': 'a, b',
      'cdn-loop': expect.stringMatching(/^before\.example, \S+$/) as string,
    });
  });

  it('may answer in place of the destination, with a body of any size', async () => {
    const proxy = await shop.proxy({
      request: `${errors}
        throw new errors.CustomHttpResponseError({
          status: 202, headers: { 'X-Mine': 'yes', 'SVC-X': 'no', Connection: 'close' }, body: { large: 'x'.repeat(100000) },
        });`,
    });
    const answer = await proxy.call({ body: {} });
    expect([answer.status, answer.text.length]).toEqual([202, 100_012]);
    expect(answer.headers.get('x-mine')).toBe('yes');
    expect(answer.headers.get('svc-x')).toBeNull();
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('svc-proxy-destination-status')).toBeNull();
    expect(answer.headers.get('svc-trace-id')).toMatch(/./);
    expect(shop.destination.received).toEqual([]);
  });
});

describe('a response transform', () => {
  it('sees the answer and replaces it', async () => {
    shop.answer = (res) =>
      res
        .writeHead(418, {
          'content-type': 'application/json',
          'x-theirs': '1',
          'set-cookie': ['a=1', 'b=2'],
        })
        .end('{"a":1}');
    const proxy = await shop.proxy({
      response: `return {
        headers: { ...args.headers, 'X-Mine': args.headers['X-Theirs'] },
        body: { ...args.body, status: args.status, raw: args.raw_body },
      };`,
    });
    const answer = await proxy.call({ body: {} });
    expect([answer.status, answer.text]).toEqual([418, '{"a":1,"status":418,"raw":"{\\"a\\":1}"}']);
    expect(answer.headers.get('x-mine')).toBe('1');
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(answer.headers.get('svc-proxy-destination-status')).toBe('418');
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)(
    'sees what was packed with %s, and asks for what it can unpack',
    async (encoding, pack) => {
      shop.answer = (res) =>
        res.writeHead(200, { ...asJson, 'content-encoding': encoding }).end(pack('{"a":1}'));
      const proxy = await shop.proxy({ response: echo });
      const answer = await proxy.call({ body: {}, headers: { 'accept-encoding': 'zstd' } });
      expect([answer.status, answer.text]).toEqual([200, '{"a":1}']);
      expect(answer.headers.get('content-encoding')).toBeNull();
      expect(shop.forwarded.headers['accept-encoding']).toBe('gzip, deflate, br');
    },
  );

  it.each([
    ['HEAD', 'HEAD', 200, { ...asJson, 'content-length': '100' }],
    ['204', 'DELETE', 204, {}],
    ['304', 'GET', 304, { 'content-length': '7' }],
    ['a redirect', 'GET', 302, { location: '/elsewhere' }],
  ])('runs for an answer without a body: %s', async (_, method, status, headers) => {
    shop.answer = (res) => res.writeHead(status, headers).end();
    const proxy = await shop.proxy({
      response: `return { headers: { 'X-Body': String(args.body) }, body: args.body };`,
    });
    const answer = await proxy.call({ method });
    expect([answer.status, answer.text, answer.headers.get('x-body')]).toEqual([
      status,
      '',
      'undefined',
    ]);
  });

  it.each([
    ['body', `{ headers: {}, body: { a: 1 } }`, 200, '{"a":1}'],
    ['status', `{ status: 204, headers: {}, body: { a: 1 } }`, 204, ''],
    [
      'text',
      `{ status: 503, headers: { 'content-type': 'text/plain' }, body: 'closed' }`,
      503,
      'closed',
    ],
  ])('decides %s', async (_, returned, status, text) => {
    const proxy = await shop.proxy({ response: `return ${returned};` });
    const answer = await proxy.call({ body: {} });
    expect([answer.status, answer.text]).toEqual([status, text]);
  });

  it('may tokenize a card in the answer, which never reaches the caller', async () => {
    shop.answer = (res) => res.writeHead(200, asJson).end(JSON.stringify({ card }));
    const proxy = await shop.proxy(
      {
        response: `
          const token = await svc.tokenize({ type: 'card', data: args.body.card });
          return { headers: args.headers, body: { card: token.id } };`,
      },
      { application: { id: shop.applicationId } },
    );
    const answer = await proxy.call({ body: {} });
    expect(answer.text).toMatch(/^\{"card":"[0-9a-f-]{36}"\}$/);
  });

  it('gets the whole answer even if the caller asks for a part', async () => {
    const proxy = await shop.proxy({ response: echo });
    await proxy.call({ method: 'GET', headers: { Range: 'bytes=1-2', 'If-Range': '"a"' } });
    const { headers } = shop.forwarded;
    expect([headers.range, headers['if-range']]).toEqual([undefined, undefined]);
    shop.answer = (res) =>
      res.writeHead(206, { ...asJson, 'content-range': 'bytes 0-1/9' }).end('{}');
    const answer = await proxy.call({ method: 'GET' });
    expect(answer).toMatchObject({ status: 502, code: 'destination_answer_invalid' });
  });

  it('passes on no digest of a body that it has changed', async () => {
    shop.answer = (res) =>
      res
        .writeHead(200, { ...asJson, etag: '"a"', 'content-digest': 'sha-256=:a:' })
        .end('{"a":1}');
    const proxy = await shop.proxy({
      response: `return { headers: { ...args.headers, Digest: 'mine' }, body: {} };`,
    });
    const { headers } = await proxy.call({ body: {} });
    expect(['etag', 'content-digest', 'digest'].map((name) => headers.get(name))).toEqual([
      null,
      null,
      'mine',
    ]);
  });

  it('answers HEAD without a length of its own', async () => {
    const proxy = await shop.proxy({ response: `return { headers: {}, body: {} };` });
    const answer = await proxy.call({ method: 'HEAD' });
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, null]);
  });

  it('that throws an answer without a status leads to 500', async () => {
    const proxy = await shop.proxy({
      response: `${errors} throw new errors.CustomHttpResponseError({ body: 'no' });`,
    });
    expect(await proxy.call({ body: {} })).toMatchObject({ status: 500, text: 'no' });
  });

  it('may answer in place of the destination', async () => {
    const proxy = await shop.proxy({
      response: `${errors} throw new errors.CustomHttpResponseError({ status: 402, headers: {}, body: 'no' });`,
    });
    const answer = await proxy.call({ body: {} });
    expect([answer.status, answer.text]).toEqual([402, 'no']);
    expect(answer.headers.get('svc-proxy-destination-status')).toBe('200');
  });
});

describe('an anonymous inbound call', () => {
  const secret = 'whsec';
  const signatureOf = (text: string): string =>
    createHmac('sha256', secret).update(text).digest('hex');

  it('is checked by its signature, tokenized and forwarded; a wrong signature is not', async () => {
    const proxy = await shop.proxy(
      {
        request: `${errors}
          const { createHmac } = require('crypto');
          const expected = createHmac('sha256', configuration.secret).update(args.raw_body).digest('hex');
          if (args.headers['X-Signature'] !== expected) throw new errors.AuthenticationError('wrong signature');
          const token = await svc.tokenize({ type: 'card', data: args.body.card });
          return { headers: args.headers, body: { ...args.body, card: token.id } };`,
      },
      { require_auth: false, configuration: { secret }, application: { id: shop.applicationId } },
    );
    const text = JSON.stringify({ event: 'added', card, note: '{{ not opened }}' }, null, 2);
    const headers = { ...asJson, 'X-Signature': signatureOf(text) };
    const inbound = { anonymous: true, body: text };
    expect(await proxy.call({ ...inbound, headers })).toMatchObject({ status: 200 });
    expect(shop.forwarded.body).not.toContain('4242');
    expect(JSON.parse(shop.forwarded.body)).toMatchObject({
      event: 'added',
      note: '{{ not opened }}',
    });
    const refused = await proxy.call({ ...inbound, headers: { ...headers, 'X-Signature': 'ab' } });
    expect(refused).toMatchObject({
      status: 401,
      code: 'reactor_error',
      detail: 'Authentication Failed',
    });
    expect(shop.destination.received).toHaveLength(1);
  });

  it('may get an answer of our own system as tokens', async () => {
    const id = await token({ number: '4242' });
    shop.answer = (res) => res.writeHead(200, asJson).end(JSON.stringify({ card: `{{${id}}}` }));
    const proxy = await shop.proxy(
      { response: `return { headers: args.headers, body: await svc.detokenize(args.body) };` },
      { require_auth: false, application: { id: shop.applicationId } },
    );
    const answer = await proxy.call({ anonymous: true, body: { mine: `{{${id}}}` } });
    expect(answer.text).toBe('{"card":{"number":"4242"}}');
    expect(shop.forwarded.body).toBe(`{"mine":"{{${id}}}"}`);
  });
});

describe('isolation', () => {
  const counting = `globalThis.n = (globalThis.n ?? 0) + 1; return { headers: {}, body: { n: globalThis.n } };`;

  it.each([
    ['warm', ['{"n":1}', '{"n":2}']],
    ['run', ['{"n":1}', '{"n":1}']],
  ])('%s', async (isolation, bodies) => {
    const proxy = await shop.proxy({ request: counting }, { isolation });
    await proxy.call();
    await proxy.call();
    expect(shop.destination.received.map(({ body }) => body)).toEqual(bodies);
  });
});

describe('the errors', () => {
  it.each([
    ['BadRequestError', `new errors.BadRequestError('why')`, 400, { error: ['why'] }],
    ['AuthorizationError', `new errors.AuthorizationError({ card: 'no' })`, 403, { card: ['no'] }],
    ['RateLimitError', `new errors.RateLimitError(['a', 'b'])`, 429, { error: ['a', 'b'] }],
    ['any other', `new TypeError('oh')`, 500, { error: ['oh'] }],
  ])(
    'that a transform throws are listed under proxy_error: %s',
    async (_, thrown, status, listed) => {
      for (const side of ['request', 'response']) {
        const proxy = await shop.proxy({ [side]: `${errors} throw ${thrown};` });
        const answer = await proxy.call({ body: {} });
        expect(answer.status).toBe(status);
        expect(JSON.parse(answer.text)).toMatchObject({
          proxy_error: { status, code: 'reactor_error', errors: listed },
        });
      }
    },
  );

  it('show no value that svc has opened', async () => {
    const id = await token('very secret');
    const proxy = await shop.proxy(
      { request: `throw new Error('got ' + (await svc.detokenize('{{' + args.body.id + '}}')));` },
      { application: { id: shop.applicationId } },
    );
    const { text } = await proxy.call({ body: { id } });
    expect(text).toContain('got [redacted]');
  });

  it('show no token, configuration or body', async () => {
    const id = await token('very secret');
    const proxy = await shop.proxy(
      {
        request: `throw new Error([args.headers['x-a'].slice(7), configuration.key, args.body.own].join());`,
      },
      { configuration: { key: 'configured' } },
    );
    const { text } = await proxy.call({
      headers: { 'X-A': `Bearer {{${id}}}` },
      body: { own: 'my own' },
    });
    expect(text).toContain('[redacted],[redacted],[redacted]');
  });
});
