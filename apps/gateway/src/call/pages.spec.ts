import { once } from 'node:events';
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { ProxyDefinition } from '@glovebox/definitions';
import { startDestination, waitFor, type Destination } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';
import { RawCaller } from '../spec-sockets';

const shop = 'https://shop.example';
const other = 'https://other.example';
const tokenId = '0b5b1f6e-6b3f-4a35-8a52-0a5a8f3f3f10';

let gateway: SpecGateway;
let destination: Destination;
let listedKey: string;
let plainKey: string;
let privateKey: string;

beforeAll(async () => {
  gateway = await startSpecGateway();
  destination = await startDestination((_, response) => {
    response.writeHead(200, {
      'Content-Type': 'text/plain',
      Vary: 'Accept-Encoding',
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Credentials': 'true',
      'Access-Control-Max-Age': '99999',
    });
    response.end('from the destination');
  });
  const listed = await gateway.revocable(['token:create']);
  await listed.change({ type: 'public', allowedOrigins: [shop] });
  listedKey = listed.key;
  const plain = await gateway.revocable(['token:create']);
  await plain.change({ type: 'public' });
  plainKey = plain.key;
  privateKey = await gateway.application(['token:create']);
});

afterAll(async () => {
  await destination.close();
  await gateway.close();
});

interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Sends headers as they are, which `fetch` would not. */
async function send(
  method: string,
  path: string,
  headers: Record<string, string | string[]>,
  body?: string,
  { url } = gateway,
): Promise<Answered> {
  const req = request(`${url}${path}`, { method, headers, agent: false });
  req.end(body);
  const [answer] = (await once(req, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of answer) text += String(chunk);
  return { status: answer.statusCode ?? 0, headers: answer.headers, text };
}

const preflight = (path: string, origin: string, method = 'POST', headers = {}) =>
  send('OPTIONS', path, {
    Origin: origin,
    'Access-Control-Request-Method': method,
    'Access-Control-Request-Headers': 'x-anything, svc-api-key',
    ...headers,
  });

const post = (path: string, key: string, origin?: string | string[], method = 'POST') =>
  send(
    method,
    path,
    {
      'Content-Type': 'application/json',
      ...(key === '' ? {} : { 'SVC-API-KEY': key }),
      ...(origin === undefined ? {} : { Origin: origin }),
    },
    method === 'POST' || method === 'PATCH' ? '{}' : undefined,
  );

const originHeaders = ({ headers }: Answered): object =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.startsWith('access-control-')),
  );

const exposed = 'SVC-TRACE-ID, Retry-After, SVC-UNKNOWN-MEMBERS, BT-UNKNOWN-MEMBERS';
const readable = {
  'access-control-allow-origin': shop,
  'access-control-expose-headers': exposed,
};
const paths: [string, string][] = [
  ['POST', '/tokens'],
  ['POST', '/tokens/'],
  ['POST', '/tokens?a=b'],
  ['POST', '/tokenize'],
  ['PATCH', `/tokens/${tokenId}`],
  ['PATCH', `/tokens/${tokenId}/?a`],
];

describe.each(paths)('a page that sends %s %s', (method, path) => {
  it('gets its preflight answered here where a public application lists its origin', async () => {
    const before = gateway.management.requests.length;
    const answer = await preflight(path, shop, method);
    expect([answer.status, answer.text, answer.headers.vary]).toEqual([204, '', 'Origin']);
    expect(answer.headers['svc-trace-id']).toEqual(expect.any(String));
    expect(originHeaders(answer)).toEqual({
      'access-control-allow-origin': shop,
      'access-control-allow-methods': method,
      'access-control-allow-headers': expect.stringMatching(
        /^CONTENT-TYPE, SVC-API-KEY, BT-API-KEY, SVC-TRACE-ID, BT-TRACE-ID, SVC-IDEMPOTENCY-KEY, BT-IDEMPOTENCY-KEY(, [A-Z-]+)*, SVC-CLIENT-USER-AGENT, BT-CLIENT-USER-AGENT$/,
      ) as string,
      'access-control-max-age': '600',
    });
    expect(gateway.management.requests).toHaveLength(before);
  });

  it('is refused at the preflight where nobody lists its origin', async () => {
    const answer = await preflight(path, other, method);
    expect([answer.status, answer.headers.vary, originHeaders(answer)]).toEqual([
      403,
      'Origin',
      {},
    ]);
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'permission_denied' });
  });

  it('may read the answer to a key whose application lists its origin', async () => {
    const answer = await post(path, listedKey, shop, method);
    expect([answer.status, answer.headers.vary, answer.text]).toEqual([
      200,
      'Origin',
      '{"ok":true}',
    ]);
    expect(originHeaders(answer)).toEqual(readable);
  });

  it('gets 403 from another origin, and the management API is not asked', async () => {
    const before = gateway.management.requests.length;
    const answer = await post(path, listedKey, other, method);
    expect([answer.status, answer.headers.vary, originHeaders(answer)]).toEqual([
      403,
      'Origin',
      {},
    ]);
    expect(JSON.parse(answer.text)).toEqual({
      title: 'The API key does not permit this.',
      status: 403,
      code: 'permission_denied',
      detail: expect.stringContaining('allowed_origins') as string,
    });
    expect(gateway.management.requests).toHaveLength(before);
  });

  it('is served without a word of origins with other keys', async () => {
    for (const key of [plainKey, privateKey]) {
      const answer = await post(path, key, shop, method);
      expect([answer.status, answer.headers.vary, originHeaders(answer)]).toEqual([
        200,
        'Origin',
        {},
      ]);
    }
  });

  it('may read that its key is unknown where any application lists its origin', async () => {
    for (const key of ['', 'nobody', `key_${'0'.repeat(33)}`]) {
      expect(originHeaders(await post(path, key, shop, method))).toEqual(readable);
      expect(originHeaders(await post(path, key, other, method))).toEqual({});
    }
  });

  it('is no page without an Origin, and caches learn that the answer differs by it', async () => {
    const answer = await post(path, listedKey, undefined, method);
    expect([answer.status, answer.headers.vary, originHeaders(answer)]).toEqual([
      200,
      'Origin',
      {},
    ]);
  });
});

describe('an origin that is not exactly the listed one', () => {
  it.each([
    'null',
    '',
    '*',
    'https://SHOP.example',
    'https://shop.example.',
    'https://shop.example/',
    'https://shop.example:443',
    'http://shop.example',
    'https://shop.example.evil.example',
    'https://evil.example/https://shop.example',
    'https://evil-shop.example',
    'https://xn--shop-xyz.example',
    `${shop} `.repeat(2).trim(),
    `${shop}${'x'.repeat(10_000)}`,
  ])('is refused: %s', async (origin) => {
    const called = await post('/tokens', listedKey, origin);
    expect([called.status, originHeaders(called)]).toEqual([403, {}]);
    const asked = await preflight('/tokens', origin);
    expect([asked.status, originHeaders(asked)]).toEqual([403, {}]);
  });

  it('is refused where it is given twice, also with the listed one', async () => {
    for (const origins of [
      [shop, other],
      [other, shop],
      [shop, shop],
    ]) {
      const answer = await post('/tokens', listedKey, origins);
      expect([answer.status, originHeaders(answer)]).toEqual([403, {}]);
    }
  });

  it('splits no header of the answer', async () => {
    const caller = new RawCaller(
      gateway.port,
      `OPTIONS /tokens HTTP/1.1\r\nHost: a\r\nConnection: close\r\n` +
        `Access-Control-Request-Method: POST\r\nOrigin: ${shop}\rX-Split: 1\r\n\r\n`,
    );
    await waitFor(() => caller.ended);
    expect(caller.status).toBe(400);
    expect(caller.text).not.toMatch(/x-split|access-control/i);
  });
});

describe('a preflight', () => {
  it.each([
    ['/tokens', 'GET'],
    ['/tokens', 'PATCH'],
    [`/tokens/${tokenId}`, 'DELETE'],
    [`/tokens/${tokenId}`, 'POST'],
    ['/tokens/search', 'POST'],
    ['/tokenize', 'post'],
    ['/tokenize', 'x'.repeat(10_000)],
  ])('to %s is refused for a method that pages may not use there: %s', async (path, method) => {
    const answer = await preflight(path, shop, method);
    expect([answer.status, originHeaders(answer)]).toEqual([403, {}]);
  });

  it.each(['/detokenize', '/applications', '/tokens/a/b', '/tokenized', '/Tokens', '//tokens'])(
    'to %s goes to the management API as before',
    async (path) => {
      const before = gateway.management.requests.length;
      expect((await preflight(path, shop)).headers.vary).toBeUndefined();
      expect(gateway.management.requests).toHaveLength(before + 1);
    },
  );

  it.each([
    ['Origin', { Origin: shop }],
    ['a method', { 'Access-Control-Request-Method': 'POST' }],
  ])('with %s alone is an OPTIONS like any other', async (_, headers) => {
    const before = gateway.management.requests.length;
    const answer = await send('OPTIONS', '/tokens', headers);
    expect(originHeaders(answer)).toEqual({});
    expect(gateway.management.requests).toHaveLength(before + 1);
  });

  it('is answered before its body, whose rest is not read as a request', async () => {
    const caller = new RawCaller(
      gateway.port,
      `OPTIONS /tokens HTTP/1.1\r\nHost: a\r\nOrigin: ${shop}\r\n` +
        'Access-Control-Request-Method: POST\r\nContent-Length: 1000000\r\n\r\nGET /health/live',
    );
    await waitFor(() => caller.ended);
    expect(caller.text.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(caller.status).toBe(204);
  });

  it('does not count applications that have expired or list it no longer', async () => {
    const origin = 'https://passing.example';
    const { change, revoke } = await gateway.revocable([]);
    const allowed = async () => (await preflight('/tokens', origin)).status;
    expect(await allowed()).toBe(403);
    await change({ type: 'public', allowedOrigins: [origin] });
    expect(await allowed()).toBe(204);
    await change({ allowedOrigins: [origin], expiresAt: '2020-01-01T00:00:00.000Z' });
    expect(await allowed()).toBe(403);
    await change({ allowedOrigins: [origin] });
    expect(await allowed()).toBe(204);
    await revoke();
    expect(await allowed()).toBe(403);
  });
});

it('other endpoints say nothing of origins', async () => {
  for (const [method, path] of [
    ['GET', '/tokens'],
    ['GET', `/tokens/${tokenId}`],
    ['DELETE', `/tokens/${tokenId}`],
    ['POST', '/tokens/search'],
    ['POST', '/detokenize'],
    ['POST', '/reactors/x/react'],
    ['GET', '/health/live'],
  ] as const) {
    for (const origin of [shop, other]) {
      const answer = await post(path, listedKey, origin, method);
      expect([path, answer.status === 403 && path !== '/reactors/x/react']).toEqual([path, false]);
      expect([answer.headers.vary, originHeaders(answer)]).toEqual([undefined, {}]);
    }
  }
});

it('a page may send its key under an alias of the header', async () => {
  const headers = { 'BT-API-KEY': listedKey, 'Content-Type': 'application/json' };
  const listed = await send('POST', '/tokens', { ...headers, Origin: shop }, '{}');
  expect([listed.status, originHeaders(listed)]).toEqual([200, readable]);
  const foreign = await send('POST', '/tokens', { ...headers, Origin: other }, '{}');
  expect([foreign.status, originHeaders(foreign)]).toEqual([403, {}]);
});

it('a listed page may read the errors of the front door itself', async () => {
  const { ctx } = gateway;
  const releases = [];
  const { actorId: applicationId, tenantId } = ctx.follower.lastKnown.principalByKeyHash(
    ctx.keyHash(listedKey),
  ) ?? { actorId: '', tenantId: '' };
  for (let nth = 0; nth < ctx.config.CALLS_PER_KEY_MAX; nth += 1) {
    ctx.shares.callsOfKeys.enter(applicationId);
    releases.push(() => ctx.shares.callsOfKeys.leave(applicationId));
  }
  const answer = await post('/tokens', listedKey, shop);
  releases.forEach((release) => release());
  expect([answer.status, answer.headers['retry-after'], originHeaders(answer)]).toEqual([
    429,
    expect.any(String),
    readable,
  ]);
  expect(tenantId).toBe(gateway.tenantId);
});

describe('an anonymous proxy with origins', () => {
  const open = (changes: Partial<ProxyDefinition> = {}) =>
    gateway.proxy(destination.url, {
      requireAuth: false,
      allowedOrigins: [shop],
      ...changes,
    });
  const call = (key: string, origin?: string, headers: Record<string, string> = {}) =>
    send('GET', '/proxy/a', {
      'SVC-PROXY-KEY': key,
      ...(origin === undefined ? {} : { Origin: origin }),
      ...headers,
    });
  const readableProxy = {
    'access-control-allow-origin': shop,
    'access-control-expose-headers': `${exposed}, SVC-PROXY-DESTINATION-STATUS`,
  };

  it.each<[string, Partial<ProxyDefinition>]>([
    ['without steps', {}],
    [
      'with a step that sets the header',
      {
        responseSteps: [
          {
            type: 'append',
            options: { location: 'header', name: 'Access-Control-Allow-Origin', value: '*' },
          },
        ],
      },
    ],
    [
      'with a step that reads the answer',
      { responseSteps: [{ type: 'remove', options: { location: 'body', path: '$.none' } }] },
    ],
  ])('answers its pages in place of the destination, %s', async (_, changes) => {
    const key = await open(changes);
    const answer = await call(key, shop);
    expect(originHeaders(answer)).toEqual(readableProxy);
    expect(answer.headers.vary).toMatch(/(^|, )Origin$/);
  });

  it('refuses every other origin before it asks the destination', async () => {
    const key = await open();
    const before = destination.requests.length;
    for (const headers of [{}, { 'SVC-API-KEY': privateKey }]) {
      const answer = await call(key, other, headers);
      expect([answer.status, answer.headers.vary, originHeaders(answer)]).toEqual([
        403,
        'Origin',
        {},
      ]);
      expect(JSON.parse(answer.text)).toMatchObject({ proxy_error: { code: 'permission_denied' } });
    }
    expect(destination.requests).toHaveLength(before);
  });

  it('serves callers without an Origin, without the destination’s own words of origins', async () => {
    const answer = await call(await open());
    expect([answer.status, originHeaders(answer)]).toEqual([200, {}]);
    expect(answer.headers.vary).toBe('Accept-Encoding, Origin');
  });

  it('answers its preflight by the key in the URL, and without one by all proxies', async () => {
    const key = await open();
    const before = destination.requests.length;
    for (const path of [
      `/proxy/a?svc-proxy-key=${key}`,
      `/proxy?bt-proxy-key=${key}`,
      '/proxy/a',
    ]) {
      const answer = await preflight(path, shop, 'DELETE');
      expect([answer.status, originHeaders(answer)]).toEqual([
        204,
        {
          'access-control-allow-origin': shop,
          'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
          'access-control-allow-headers':
            'CONTENT-TYPE, SVC-API-KEY, BT-API-KEY, SVC-PROXY-KEY, BT-PROXY-KEY, SVC-TRACE-ID, BT-TRACE-ID',
          'access-control-max-age': '600',
        },
      ]);
    }
    const refused = await preflight(`/proxy?svc-proxy-key=${key}`, other);
    expect([refused.status, originHeaders(refused)]).toEqual([403, {}]);
    const unknown = await preflight('/proxy', other);
    expect([unknown.status, originHeaders(unknown)]).toEqual([400, {}]);
    expect(destination.requests).toHaveLength(before);
  });

  it('lets its pages read why a key was not found', async () => {
    await open();
    const wrong = await call('none', shop);
    expect([wrong.status, originHeaders(wrong)]).toEqual([404, readableProxy]);
    expect(originHeaders(await call('none', other))).toEqual({});
  });

  it('lets its pages read that the destination does not answer', async () => {
    const key = await gateway.proxy('http://127.0.0.1:1/', {
      requireAuth: false,
      allowedOrigins: [shop],
    });
    const answer = await call(key, shop);
    expect([answer.status, originHeaders(answer)]).toEqual([502, readableProxy]);
  });

  it('refuses a page whose origin was taken away while its body came', async () => {
    const { key, change } = await gateway.changeableProxy(destination.url, {
      requireAuth: false,
      allowedOrigins: [shop],
      requestSteps: [{ type: 'append', options: { location: 'body', path: '$.a', value: 1 } }],
    });
    const req = request(`${gateway.url}/proxy`, {
      method: 'POST',
      headers: { 'SVC-PROXY-KEY': key, Origin: shop, 'Content-Type': 'application/json' },
      agent: false,
    });
    req.write('{');
    await once(req, 'socket');
    const answered = once(req, 'response') as Promise<[IncomingMessage]>;
    await change({ allowedOrigins: [other] });
    req.end('}');
    const [answer] = await answered;
    answer.resume();
    expect(answer.statusCode).toBe(403);
  });
});

it('a proxy without origins leaves all to its destination, preflights too', async () => {
  const key = await gateway.proxy(destination.url, { requireAuth: false });
  const answer = await send('GET', '/proxy', { 'SVC-PROXY-KEY': key, Origin: other });
  expect([
    answer.status,
    answer.headers.vary,
    answer.headers['access-control-allow-origin'],
  ]).toEqual([200, 'Accept-Encoding', '*']);
  const asked = await preflight(`/proxy?svc-proxy-key=${key}`, other);
  expect([asked.status, asked.text, asked.headers['access-control-max-age']]).toEqual([
    200,
    'from the destination',
    '99999',
  ]);
});

it('a page may read that nobody knows what is in force', async () => {
  const cutOff = await startSpecGateway();
  const { key, change } = await cutOff.revocable(['token:create']);
  await change({ type: 'public', allowedOrigins: [shop] });
  try {
    await cutOff.cutOff();
    const answer = await send(
      'POST',
      '/tokens',
      { 'SVC-API-KEY': key, Origin: shop },
      '{}',
      cutOff,
    );
    expect([answer.status, originHeaders(answer)]).toEqual([503, readable]);
    const foreign = await send(
      'POST',
      '/tokens',
      { 'SVC-API-KEY': key, Origin: other },
      '{}',
      cutOff,
    );
    expect([foreign.status, originHeaders(foreign)]).toEqual([503, {}]);
  } finally {
    await cutOff.close();
  }
});
