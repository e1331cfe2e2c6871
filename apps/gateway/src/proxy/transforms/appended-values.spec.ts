import { createHmac, randomBytes } from 'node:crypto';
import type { ProxyDefinition, TransformStep } from '@glovebox/definitions';
import { startDestination, type Destination } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../../spec-gateway';

type Appended = Extract<TransformStep, { type: 'append' }>['options'];

let gateway: SpecGateway;
let destination: Destination;
/** Of the caller, who may use tokens in no container but its own. */
let key: string;
let application: Awaited<ReturnType<SpecGateway['revocable']>>;
const own = { description: '', priority: 1, container: '/own/', transform: 'reveal' } as const;

beforeAll(async () => {
  gateway = await startSpecGateway();
  destination = await startDestination(({ headers }, response) => {
    response.setHeader('content-type', 'text/plain').end(`you sent ${headers['x-key']}`);
  });
  key = await gateway.application([], undefined, [{ ...own, permissions: ['token:use'] }]);
  application = await gateway.revocable(['token:use']);
});
afterEach(() => void destination.requests.splice(0));
afterAll(async () => {
  await destination.close();
  await gateway.close();
});

function proxyWith(
  options: readonly Appended[],
  more: Partial<ProxyDefinition> = {},
): Promise<string> {
  const requestSteps = options.map((one) => ({ type: 'append', options: one }) as TransformStep);
  return gateway.proxy(destination.url, { applicationId: application.id, requestSteps, ...more });
}

function call(proxyKey: string, init: RequestInit = {}, query = '?a=1'): Promise<Response> {
  const headers = { 'SVC-API-KEY': key, 'SVC-PROXY-KEY': proxyKey, ...init.headers };
  return fetch(`${gateway.url}/proxy${query}`, { ...init, headers });
}

const post = (
  proxyKey: string,
  body: string | Buffer,
  type = 'application/json',
): Promise<Response> => call(proxyKey, { method: 'POST', headers: { 'Content-Type': type }, body });

async function refused(answer: Response, status: number, code: string): Promise<string> {
  const text = await answer.text();
  expect([answer.status, JSON.parse(text)]).toMatchObject([status, { proxy_error: { code } }]);
  expect(destination.requests).toEqual([]);
  return text;
}

const header = (name: string, value: string): Appended => ({ location: 'header', name, value });
const query = (name: string, value: string): Appended => ({ location: 'query', name, value });

describe('a value that a step appends', () => {
  it('is filled in as the application of the proxy, recorded as its use, in each place', async () => {
    const secret = 'sk live/ü&1';
    const token = await gateway.token(secret);
    const object = await gateway.token({ plan: ['a', 1] });
    const proxyKey = await proxyWith([
      header('Authorization', `Bearer {{ ${token} | slice: 0, 2 }}`),
      header('X-Key', `{{ ${token} | to_base64 }}`),
      query('key', `{{ ${token} }}`),
      { location: 'body', path: '$.keys', value: { key: `{{ ${token} }}`, of: `{{ ${object} }}` } },
    ]);
    await call(proxyKey, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: 'mine', 'x-KEY': 'mine' },
      body: '{"a":1}',
    });
    const [sent] = destination.requests;
    expect(sent?.headers).toMatchObject({
      authorization: 'Bearer sk',
      'x-key': Buffer.from(secret).toString('base64'),
    });
    expect(sent?.rawHeaders.filter((name) => /^x-key$/i.test(name))).toHaveLength(1);
    expect(sent?.url).toBe(`/?a=1&key=${encodeURIComponent(secret)}`);
    expect(sent?.json()).toEqual({ a: 1, keys: { key: secret, of: { plan: ['a', 1] } } });
    expect(await gateway.uses(token)).toMatchObject([
      { operation: 'proxy.invoke', actor_id: application.id },
    ]);
  });

  it('is filled in for a call without an API key, and beside the tokens of the caller', async () => {
    const token = await gateway.token('the secret');
    const callers = await gateway.token('of the caller', { containers: ['/own/'] });
    const steps = [header('X-Key', `{{ ${token} }}`)];
    const open = await proxyWith(steps, { requireAuth: false });
    await fetch(`${gateway.url}/proxy`, { headers: { 'SVC-PROXY-KEY': open } });
    await post(await proxyWith(steps), `{"a":"{{ ${callers} }}"}`);
    expect(destination.requests.map(({ headers }) => headers['x-key'])).toEqual([
      'the secret',
      'the secret',
    ]);
    expect(destination.requests.splice(0)[1]?.json()).toEqual({ a: 'of the caller' });
    await refused(
      await post(await proxyWith([]), `{"a":"{{ ${token} }}"}`),
      403,
      'permission_denied',
    );
  });

  it('does not come back where the proxy scrubs', async () => {
    const token = await gateway.token('the secret of a partner');
    const proxyKey = await proxyWith([header('X-Key', `Bearer {{ ${token} }}`)], { scrub: true });
    const answer = await call(proxyKey);
    expect(await answer.text()).toBe(`you sent Bearer {{ ${token} }}`);
  });

  it('that the application may not use ends the call, and an anonymous caller learns no more', async () => {
    const token = await gateway.token('secret');
    const weak = await gateway.revocable(['token:create']);
    const steps = [header('X-Key', `{{ ${token} }}`)];
    const proxyKey = await proxyWith(steps, { applicationId: weak.id });
    await refused(await call(proxyKey), 403, 'permission_denied');
    const open = await proxyWith(steps, { applicationId: weak.id, requireAuth: false });
    const anonymous = await fetch(`${gateway.url}/proxy`, { headers: { 'SVC-PROXY-KEY': open } });
    const text = await refused(anonymous, 403, 'permission_denied');
    expect(JSON.parse(text)).toEqual({
      proxy_error: { title: expect.any(String) as string, status: 403, code: 'permission_denied' },
    });
    const gone = await proxyWith(steps, { applicationId: null });
    await refused(await call(gone), 409, 'application_gone');
    const unknown = await proxyWith([header('X-Key', '{{ not-there }}')]);
    await refused(await call(unknown), 400, 'unknown_token');
  });

  it('is kept from a path that its token excludes: no anonymous caller learns the token, the record names the application', async () => {
    const token = await gateway.token('secret', { destinations: [`${destination.url}/v1`] });
    const steps = [header('X-Key', `{{ ${token} }}`)];
    const open = await proxyWith(steps, { requireAuth: false });
    const anonymous = await fetch(`${gateway.url}/proxy/v2`, {
      headers: { 'SVC-PROXY-KEY': open },
    });
    const text = await refused(anonymous, 403, 'destination_not_allowed');
    expect(JSON.parse(text)).toEqual({
      proxy_error: {
        ...{ title: expect.any(String) as string, status: 403 },
        code: 'destination_not_allowed',
      },
    });
    expect(await gateway.uses(token)).toContainEqual(
      expect.objectContaining({ outcome: 'refused', actor_id: application.id }),
    );
    const known = await call(open, {}, '/v2');
    expect(await refused(known, 403, 'destination_not_allowed')).toContain(token);
  });

  it('that cannot be read or sent ends the call with the place of its step', async () => {
    const token = await gateway.token('two\nlines');
    const broken = await proxyWith([header('X-A', 'plain'), header('X-B', '{{ a | nothing }}')]);
    const text = await refused(await call(broken), 400, 'invalid_expression');
    expect(text).toContain('request_transforms.1');
    const unfit = await proxyWith([header('X-Key', `{{ ${token} }}`)]);
    const answer = await refused(await call(unfit), 400, 'invalid_request');
    expect(answer).not.toContain('lines');
    expect(answer).toContain('request_transforms.0');
  });

  it('is opened no more when the application has changed since', async () => {
    const changing = await gateway.revocable(['token:use']);
    const token = await gateway.token('secret');
    const proxyKey = await proxyWith([header('X-Key', `{{ ${token} }}`)], {
      applicationId: changing.id,
    });
    expect((await call(proxyKey)).status).toBe(200);
    destination.requests.splice(0);
    await changing.change({ permissions: ['token:create'] });
    await refused(await call(proxyKey), 403, 'permission_denied');
  });
});

describe('hmac_body', () => {
  const key_ = 'key of the partner';
  const sign = (body: string | Buffer, algorithm = 'sha256'): string =>
    createHmac(algorithm, key_).update(body).digest('hex');
  const signature = (): unknown => destination.requests[0]?.headers['x-signature'];

  async function signing(filters: string, more: Partial<ProxyDefinition> = {}): Promise<string> {
    const token = await gateway.token(key_);
    return proxyWith([header('X-Signature', `v1={{ ${token} | ${filters} }}`)], more);
  }

  it('signs the bytes that leave, with the expressions of the caller filled in', async () => {
    const callers = await gateway.token('ü', { containers: ['/own/'] });
    await post(await signing("hmac_body: 'sha256'"), `{ "a": "{{ ${callers} }}" }`);
    expect(destination.requests[0]?.text()).toBe('{ "a": "ü" }');
    expect(signature()).toBe(`v1=${sign('{ "a": "ü" }')}`);
  });

  it('signs what other steps have made of the body, also later ones', async () => {
    const token = await gateway.token(key_);
    const proxyKey = await proxyWith([
      query('sig', `{{ ${token} | hmac_body: 'SHA512', 'base64' }}`),
      { location: 'body', path: '$.b', value: 2 },
    ]);
    await post(proxyKey, '{ "a": 1 }');
    expect(destination.requests[0]?.text()).toBe('{"a":1,"b":2}');
    const expected = createHmac('sha512', key_).update('{"a":1,"b":2}').digest('base64');
    expect(destination.requests[0]?.url).toBe(`/?a=1&sig=${encodeURIComponent(expected)}`);
  });

  it('signs an empty body, one of any type, and one that comes in chunks', async () => {
    const proxyKey = await signing("hmac_body: 'sha256'");
    await call(proxyKey);
    expect(signature()).toBe(`v1=${sign('')}`);
    const bytes = randomBytes(300_000);
    for (const body of [bytes, new Blob([bytes]).stream()]) {
      destination.requests.splice(0);
      const headers = { 'Content-Type': 'application/octet-stream', 'Content-Encoding': 'gzip' };
      const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
      await call(proxyKey, init);
      expect(signature()).toBe(`v1=${sign(bytes)}`);
    }
  });

  it('refuses a body above 10 MiB, and nothing is sent', async () => {
    const body = Buffer.alloc(10 * 1024 * 1024 + 1, 'a');
    const proxyKey = await signing("hmac_body: 'sha256'");
    await refused(await post(proxyKey, body, 'text/plain'), 413, 'payload_too_large');
    const fits = await post(proxyKey, body.subarray(1), 'text/plain');
    expect(fits.status).toBe(200);
    expect(signature()).toBe(`v1=${sign(body.subarray(1))}`);
  });

  it('is refused where no body leaves, before any token is opened', async () => {
    const token = await gateway.token(key_, { containers: ['/own/'] });
    const expression = `{{ ${token} | hmac_body: 'sha256' }}`;
    const proxyKey = await proxyWith([]);
    const inBody = await post(proxyKey, JSON.stringify({ a: expression }));
    expect(await refused(inBody, 400, 'invalid_expression')).toContain('hmac_body');
    const inHeader = await call(proxyKey, { headers: { 'X-Signature': expression } });
    await refused(inHeader, 400, 'invalid_expression');
    const step = await proxyWith([{ location: 'body', path: '$.a', value: expression }]);
    await refused(await post(step, '{}'), 400, 'invalid_expression');
    expect(await gateway.uses(token)).toEqual([]);
  });
});
