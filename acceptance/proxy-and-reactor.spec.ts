import { Webhook } from 'standardwebhooks';
import { call, create, reactorOf, runningProduct } from './product';
import { startReceiver, type Receiver } from './receiver';

const product = runningProduct();
const { baseUrl, adminKey, privateKey } = product;
const add = 'module.exports = async ({ args }) => ({ raw: { sum: args.a + args.b } });';
const numbers = {
  request_parameters: [
    { name: 'a', type: 'number' },
    { name: 'b', type: 'number' },
  ],
};

describe('a card token through a proxy', () => {
  let destination: Receiver;
  const card = { number: '4242424242424242', expiration_month: 12, cvc: '123' };
  const proxyKeyOf = async (): Promise<string> => {
    const body = { name: 'pay', destination_url: `${destination.url}/charges/` };
    return String((await create(product, '/proxies', body)).key);
  };

  beforeAll(async () => {
    destination = await startReceiver();
  });
  afterAll(() => destination.close());

  it('arrives at the destination as the card, whose answer is returned unchanged', async () => {
    const token = await create(product, '/tokens', { type: 'token', data: card }, privateKey);
    expect(JSON.stringify(token)).not.toContain('4242');

    const answer = await call('POST', `${baseUrl}/proxy/new?currency=USD`, {
      key: privateKey,
      headers: { 'SVC-PROXY-KEY': await proxyKeyOf(), 'X-Mine': 'kept' },
      body: { amount: 1200, card: `{{ ${token.id} }}` },
    });
    expect(answer.status).toBe(200);
    expect(answer.text).toBe('{"received":true}');
    expect(answer.headers.get('svc-proxy-destination-status')).toBe('200');

    const request = await destination.next();
    expect(request).toMatchObject({ method: 'POST', url: '/charges/new?currency=USD' });
    expect(JSON.parse(request.body)).toEqual({ amount: 1200, card });
    expect(request.headers['x-mine']).toBe('kept');
    const ours = Object.keys(request.headers).filter((name) => name.startsWith('svc-'));
    expect(ours).toEqual([]);
    expect(request.headers.host).toBe(new URL(destination.url).host);
  });

  it('of another tenant is unknown, and nothing is forwarded', async () => {
    const foreign = await create(
      product,
      '/tokens',
      { type: 'token', data: card },
      product.secondTenant.privateKey,
    );
    const before = destination.received.length;
    const answer = await call('POST', `${baseUrl}/proxy`, {
      key: privateKey,
      headers: { 'SVC-PROXY-KEY': await proxyKeyOf() },
      body: { card: `{{${foreign.id}}}` },
    });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      proxy_error: {
        status: 400,
        code: 'unknown_token',
        cause: { phase: 'lookup', reason: 'a token is unknown, deleted or expired' },
        title: 'A token cannot be found.',
        detail: `Not found: ${foreign.id}.`,
      },
    });
    expect(destination.received).toHaveLength(before);
  });

  it.each([
    ['no proxy key', {}, 400, 'proxy_key_missing'],
    ['an unknown proxy key', { 'SVC-PROXY-KEY': 'A'.repeat(22) }, 404, 'not_found'],
  ])('with %s is refused', async (_, headers, status, code) => {
    const answer = await call('GET', `${baseUrl}/proxy`, { key: privateKey, headers });
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ proxy_error: { status, code } });
  });

  it('needs an API key that may use tokens', async () => {
    const headers = { 'SVC-PROXY-KEY': await proxyKeyOf() };
    const anonymous = await call('GET', `${baseUrl}/proxy`, { headers });
    expect([anonymous.status, anonymous.body]).toMatchObject([
      401,
      { proxy_error: { code: 'invalid_api_key' } },
    ]);
    const manager = await call('GET', `${baseUrl}/proxy`, { key: adminKey, headers });
    expect([manager.status, manager.body]).toMatchObject([
      403,
      { proxy_error: { code: 'permission_denied' } },
    ]);
  });
});

describe('a reactor that adds two numbers', () => {
  it('answers a synchronous call', async () => {
    const reactorId = await reactorOf(product, add, numbers);
    const answer = await call('POST', `${baseUrl}/reactors/${reactorId}/react`, {
      key: privateKey,
      body: { args: { a: 2, b: '3', c: 'not declared' } },
    });
    expect([answer.status, answer.body]).toEqual([200, { raw: { sum: 5 } }]);
  });

  it('gets token data in its arguments', async () => {
    const token = await create(product, '/tokens', { type: 'token', data: 40 }, privateKey);
    const reactorId = await reactorOf(product, add, numbers);
    const answer = await call('POST', `${baseUrl}/reactors/${reactorId}/react`, {
      key: privateKey,
      body: { args: { a: `{{${token.id}}}`, b: 2 } },
    });
    expect([answer.status, answer.body]).toEqual([200, { raw: { sum: 42 } }]);
  });

  it('is not run on arguments that cannot be cast', async () => {
    const reactorId = await reactorOf(product, add, numbers);
    const answer = await call('POST', `${baseUrl}/reactors/${reactorId}/react`, {
      key: privateKey,
      body: { args: { a: 'two' } },
    });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      code: 'validation_failed',
      errors: { 'args.a': ['must be a number'], 'args.b': ['is required'] },
    });
  });

  it('delivers its result as a webhook that the public library verifies', async () => {
    const receiver = await startReceiver();
    try {
      const reactorId = await reactorOf(product, add, numbers);
      const accepted = await call('POST', `${baseUrl}/reactors/${reactorId}/react`, {
        key: privateKey,
        body: { args: { a: 20, b: 22 }, callback_url: `${receiver.url}/hooks` },
      });
      expect(accepted.status).toBe(202);
      const { async_request_id: id } = accepted.body;
      expect(accepted.body).toEqual({ async_request_id: id, asyncReactorRequestId: id });

      const hook = await receiver.next();
      const secret = await call('GET', `${baseUrl}/tenants/self/webhook-secret`, { key: adminKey });
      const headers = hook.headers as Record<string, string>;
      const verified = new Webhook(String(secret.body.secret)).verify(hook.body, headers);
      expect(verified).toEqual({ raw: { sum: 42 } });
      expect(() =>
        new Webhook(String(secret.body.secret)).verify(`${hook.body} `, headers),
      ).toThrow();
    } finally {
      await receiver.close();
    }
  });

  it('reports a failed run to the webhook as well', async () => {
    const receiver = await startReceiver();
    try {
      const reactorId = await reactorOf(
        product,
        'module.exports = () => { throw new Error("no") }',
      );
      const accepted = await call('POST', `${baseUrl}/reactors/${reactorId}/react`, {
        key: privateKey,
        body: { args: {}, callback_url: receiver.url },
      });
      expect(accepted.status).toBe(202);
      expect(JSON.parse((await receiver.next()).body)).toMatchObject({
        status: 500,
        code: 'reactor_error',
        errors: { error: ['no'] },
        position: { line: 1, column: 32 },
      });
    } finally {
      await receiver.close();
    }
  });
});

describe('a caller without the right', () => {
  it.each([
    ['no key', undefined, /^Send the key/],
    ['a key that is none', 'key_nope', /mistyped or cut off/],
    ['a key whose checksum is wrong', `key_${'0'.repeat(33)}`, /mistyped or cut off/],
  ])('with %s gets a 401 that says no more than it knew', async (_, key, detail) => {
    const options = key === undefined ? {} : { key };
    const answer = await call('POST', `${baseUrl}/reactors`, { ...options, body: {} });
    expect(answer.status).toBe(401);
    expect(answer.body).toEqual({
      title: 'The API key is missing or not valid.',
      status: 401,
      code: 'invalid_api_key',
      detail: expect.stringMatching(detail) as string,
    });
  });

  it('whose key lacks the permission gets a 403 that names it', async () => {
    const answer = await call('POST', `${baseUrl}/reactors`, { key: privateKey, body: {} });
    expect([answer.status, answer.body]).toMatchObject([
      403,
      {
        code: 'permission_denied',
        detail:
          'The permission reactor:create is needed. Applications of type private cannot hold it; use a management one.',
      },
    ]);
    const reactorId = await reactorOf(product, add);
    const react = await call('POST', `${baseUrl}/reactors/${reactorId}/react`, {
      key: adminKey,
      body: {},
    });
    expect([react.status, react.body]).toMatchObject([403, { code: 'permission_denied' }]);
  });

  it('of another tenant does not find the reactor', async () => {
    const reactorId = await reactorOf(product, add);
    const { secondTenant } = product;
    const read = await call('GET', `${baseUrl}/reactors/${reactorId}`, {
      key: secondTenant.adminKey,
    });
    const react = await call('POST', `${baseUrl}/reactors/${reactorId}/react`, {
      key: secondTenant.privateKey,
      body: { args: {} },
    });
    expect([read.status, react.status]).toEqual([404, 404]);
  });
});

it('the last use of a key in the data plane can be read', async () => {
  const own = await call('GET', `${baseUrl}/applications/key`, { key: privateKey });
  await call('GET', `${baseUrl}/proxy`, { key: privateKey });
  const reactorId = await reactorOf(product, add);
  await call('POST', `${baseUrl}/reactors/${reactorId}/react`, { key: privateKey, body: {} });
  const url = `${baseUrl}/applications/${String(own.body.id)}/keys`;
  const lastUsed = async (): Promise<unknown> => {
    const { text } = await call('GET', url, { key: adminKey });
    return (JSON.parse(text) as { last_used_at?: string }[])[0]?.last_used_at;
  };
  const deadline = Date.now() + 10_000;
  while (Date.now() < deadline && (await lastUsed()) === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(Date.parse(String(await lastUsed()))).not.toBeNaN();
});

describe('an endless loop', () => {
  it('is ended, and the error says so', async () => {
    const reactorId = await reactorOf(product, 'module.exports = () => { for (;;) {} };');
    const startedAt = Date.now();
    const answer = await call('POST', `${baseUrl}/reactors/${reactorId}/react`, {
      key: privateKey,
      body: { args: {} },
    });
    expect([answer.status, answer.body]).toMatchObject([504, { code: 'reactor_timeout' }]);
    expect(Date.now() - startedAt).toBeLessThan(20_000);
  });
});
