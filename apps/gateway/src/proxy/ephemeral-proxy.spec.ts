import { startDestination, type Destination } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';

let gateway: SpecGateway;
let destination: Destination;
let key: string;

beforeAll(async () => {
  gateway = await startSpecGateway();
  destination = await startDestination();
  key = await gateway.application(['token:use']);
  await gateway.tenantSettings({ enable_ephemeral_proxy: 'true' });
});

afterAll(async () => {
  await destination.close();
  await gateway.close();
});

afterEach(() => {
  destination.requests.length = 0;
});

function call(path: string, headers: [string, string][], init: RequestInit = {}) {
  return fetch(`${gateway.url}${path}`, { ...init, headers });
}

const to = (url: string): [string, string] => ['SVC-PROXY-URL', url];
const by = (apiKey: string): [string, string] => ['SVC-API-KEY', apiKey];

async function refused(answer: Response, status: number, code: string): Promise<string> {
  const text = await answer.text();
  expect([answer.status, JSON.parse(text)]).toMatchObject([
    status,
    { proxy_error: { status, code } },
  ]);
  expect(destination.requests).toEqual([]);
  return text;
}

it('SVC-PROXY-URL forwards to its URL, with the path behind /proxy and the query', async () => {
  const answer = await call('/proxy/b%20c?y=2', [by(key), to(`${destination.url}/a?x=1`)]);
  expect(answer.status).toBe(200);
  expect(destination.requests[0]?.url).toBe('/a/b%20c?x=1&y=2');
});

it('the fragment of a SVC-PROXY-URL goes nowhere', async () => {
  const answer = await call('/proxy/b?y=2', [by(key), to(`${destination.url}/a?x=1#part?z=3`)]);
  expect(answer.status).toBe(200);
  expect(destination.requests[0]?.url).toBe('/a/b?x=1&y=2');
});

it('SVC-PROXY-URL works under an alias, and no spelling of it reaches the destination', async () => {
  const answer = await call('/proxy', [by(key), ['BT-PROXY-URL', destination.url]]);
  expect(answer.status).toBe(200);
  const seen = destination.requests[0]?.rawHeaders.join().toLowerCase();
  expect(seen).not.toMatch(/proxy-url|svc-|bt-/);
});

it('a call with SVC-PROXY-URL replaces expressions, and the audit log names no stored proxy', async () => {
  const id = await gateway.token('4242');
  const answer = await call(
    '/proxy',
    [by(key), to(destination.url), ['Content-Type', 'application/json']],
    { method: 'POST', body: `{"card":"{{${id}}}"}` },
  );
  expect(answer.status).toBe(200);
  expect(destination.requests[0]?.text()).toBe('{"card":"4242"}');
  expect(await gateway.uses(id)).toMatchObject([
    { operation: 'proxy.invoke', entity_type: 'proxy', entity_id: 'ephemeral' },
  ]);
});

it('a call with two SVC-PROXY-URL, or with one and a proxy key, gets 400', async () => {
  const url = to(destination.url);
  await refused(await call('/proxy', [by(key), url, url]), 400, 'invalid_request');
  const aliased: [string, string] = ['BT-PROXY-URL', destination.url];
  await refused(await call('/proxy', [by(key), url, aliased]), 400, 'invalid_request');
  const proxyKey = await gateway.proxy(destination.url);
  const inHeader: [string, string] = ['SVC-PROXY-KEY', proxyKey];
  await refused(await call('/proxy', [by(key), url, inHeader]), 400, 'invalid_request');
  await refused(
    await call(`/proxy?svc-proxy-key=${proxyKey}`, [by(key), url]),
    400,
    'invalid_request',
  );
});

it.each([
  ['', 'not an empty one'],
  ['ftp://example.com', 'not of another protocol'],
  ['example.com/x', 'not relative'],
  ['https://user:pass@example.com', 'not with credentials'],
  ['https://exa mple.com', 'not with blanks'],
  ['https://ex\u00e4mple.com', 'not beyond ASCII'],
  [`https://example.com/${'x'.repeat(2_000)}`, 'not too long'],
  ['https://169.254.169.254/', 'not of a forbidden address'],
  ['https://[::1]/', 'not of this machine'],
])('a call with a SVC-PROXY-URL %s gets 400: %s', async (url) => {
  const text = await refused(await call('/proxy', [by(key), to(url)]), 400, 'invalid_request');
  expect(text).not.toContain('example.com');
});

it('a call with one of our own services as SVC-PROXY-URL gets 400 with the text for any forbidden address', async () => {
  const own = gateway.ctx.config.MANAGEMENT_URL;
  const ours = await refused(await call('/proxy', [by(key), to(own)]), 400, 'invalid_request');
  const others = await call('/proxy', [by(key), to('https://10.0.0.1')]);
  const expected = await refused(others, 400, 'invalid_request');
  expect(ours).toBe(expected.replace('10.0.0.1:443', new URL(own).host));
});

it('a call with SVC-PROXY-URL and without a valid API key gets 401', async () => {
  await refused(await call('/proxy', [to(destination.url)]), 401, 'invalid_api_key');
  await refused(await call('/proxy', [by('nope'), to(destination.url)]), 401, 'invalid_api_key');
});

it('a call with SVC-PROXY-URL and an API key that may not use tokens gets 403', async () => {
  const reader = await gateway.application(['token:read']);
  await refused(await call('/proxy', [by(reader), to(destination.url)]), 403, 'permission_denied');
});

it('a call with SVC-PROXY-URL gets 403 unless the tenant has set enable_ephemeral_proxy to exactly "true"', async () => {
  const foreign = await gateway.application(['token:use'], crypto.randomUUID());
  await refused(await call('/proxy', [by(foreign), to(destination.url)]), 403, 'permission_denied');
  for (const settings of [{}, { enable_ephemeral_proxy: 'True' }]) {
    await gateway.tenantSettings(settings);
    const answer = await call('/proxy', [by(key), to(destination.url)]);
    await refused(answer, 403, 'permission_denied');
  }
  await gateway.tenantSettings({ enable_ephemeral_proxy: 'true' });
  expect((await call('/proxy', [by(key), to(destination.url)])).status).toBe(200);
});
