import type { AccessRule } from '@glovebox/access';
import { startDestination, type Destination } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';

let gateway: SpecGateway;
let destination: Destination;
let key: string;
let here: string;

beforeAll(async () => {
  gateway = await startSpecGateway();
  destination = await startDestination();
  here = destination.url;
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

const elsewhere = ['api.example.com', 'http://127.0.0.1:1', '127.0.0.1', '*.127.example'];

const call = (
  proxyKey: string,
  path: string,
  { headers = {}, apiKey = key, ...init }: RequestInit & { apiKey?: string } = {},
): Promise<Response> =>
  fetch(`${gateway.url}/proxy${path}`, {
    ...init,
    headers: { 'SVC-API-KEY': apiKey, 'SVC-PROXY-KEY': proxyKey, ...(headers as object) },
  });

async function isRefused(answer: Response, ...tokenIds: string[]): Promise<void> {
  const body = (await answer.json()) as { proxy_error: { detail: string } };
  expect([answer.status, body]).toMatchObject([
    403,
    { proxy_error: { code: 'destination_not_allowed' } },
  ]);
  for (const id of tokenIds) expect(body.proxy_error.detail).toContain(id);
  expect(destination.requests).toEqual([]);
}

describe('a token with destinations', () => {
  it('goes where one of them allows it, in head and body', async () => {
    const proxyKey = await gateway.proxy(`${here}/v1`);
    const id = await gateway.token('4242', { destinations: ['api.example.com', `${here}/v1`] });
    const answer = await call(proxyKey, `/charges/{{${id}}}`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain', 'x-card': `{{ ${id} }}` },
      body: `card={{ ${id} }}`,
    });
    expect(answer.status).toBe(200);
    expect(destination.requests[0]?.url).toBe('/v1/charges/4242');
    expect(destination.requests[0]?.text()).toBe('card=4242');
  });

  it.each(['path', 'query', 'header', 'body'])(
    'is sent nowhere else from the %s, and one line of the audit log names the host',
    async (place) => {
      const proxyKey = await gateway.proxy(here);
      const id = await gateway.token('4242', { destinations: elsewhere });
      const text = `{{${id}}}`;
      const answer = await call(
        proxyKey,
        place === 'path' ? `/${text}` : place === 'query' ? `?x=${text}` : '/',
        place === 'body'
          ? { method: 'POST', body: JSON.stringify({ card: text }) }
          : { headers: place === 'header' ? { 'x-card': text } : {} },
      );
      await isRefused(answer, id);
      expect(await gateway.uses(id)).toMatchObject([
        { operation: 'proxy.invoke', outcome: 'refused', destination_host: new URL(here).host },
      ]);
    },
  );

  it('is not sent to an ephemeral proxy that it does not allow', async () => {
    const id = await gateway.token('4242', { destinations: [`${here}/v1`] });
    const send = (url: string): Promise<Response> =>
      fetch(`${gateway.url}/proxy`, {
        headers: { 'SVC-API-KEY': key, 'SVC-PROXY-URL': url, 'x-card': `{{ ${id} }}` },
      });
    await isRefused(await send(`${here}/v2`), id);
    await isRefused(await send(`${here}/v1/../v2`), id);
    await isRefused(await send(`${here}/v1/%2e%2e/v2`), id);
    await isRefused(await send(`${here.replace('127.0.0.1', 'localhost')}/v1`), id);
    expect((await send(`${here}/v1?x=/v2`)).status).toBe(200);
  });

  it('is judged by the path that is sent after expressions, and refused on record', async () => {
    const proxyKey = await gateway.proxy(here);
    const id = await gateway.token('4242', { destinations: [`${here}/v1`] });
    const way = await gateway.token('v2');
    await isRefused(await call(proxyKey, `/{{${way}}}/{{${id}}}`), id);
    expect(await gateway.uses(id)).toContainEqual(
      expect.objectContaining({ outcome: 'refused', destination_host: new URL(here).host }),
    );
    const climbing = await gateway.token('v1/../v2');
    expect((await call(proxyKey, `/{{${climbing}}}/{{${id}}}`)).status).toBe(400);
    expect(destination.requests).toEqual([]);
    const right = await gateway.token('v1');
    expect((await call(proxyKey, `/{{${right}}}/{{${id}}}`)).status).toBe(200);
  });

  it('is not sent with another that allows other places alone', async () => {
    const proxyKey = await gateway.proxy(here);
    const one = await gateway.token('1', { destinations: [`${here}/v1`] });
    const other = await gateway.token('2', { destinations: [`${here}/v2`] });
    const answer = await call(proxyKey, `/v1?a={{${one}}}&b={{${other}}}`);
    await isRefused(answer, one, other);
  });

  it('ends a streamed body before its value leaves', async () => {
    const proxyKey = await gateway.proxy(here);
    const id = await gateway.token('a value that stays', { destinations: elsewhere });
    const body = `${'x'.repeat(3 * 1024 * 1024)}{{ ${id} }}`;
    const answer = await call(proxyKey, '/', {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body,
    });
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({
      proxy_error: { code: 'destination_not_allowed' },
    });
    expect(destination.requests.map((one) => one.text()).join('')).not.toContain('a value');
  });

  it('ends a streamed body whose path it does not allow before its value leaves', async () => {
    const proxyKey = await gateway.proxy(here);
    const id = await gateway.token('a value that stays', { destinations: [`${here}/v1`] });
    const answer = await call(proxyKey, '/v2', {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: `${'x'.repeat(3 * 1024 * 1024)}{{ ${id} }}`,
    });
    expect([answer.status, await answer.json()]).toMatchObject([
      403,
      { proxy_error: { code: 'destination_not_allowed' } },
    ]);
    expect(destination.requests.map((one) => one.text()).join('')).not.toContain('a value');
  });

  it('needs its rule to allow the place too', async () => {
    const rule = (destinations: string[]): AccessRule => ({
      ...{ description: '', priority: 1, container: '/', transform: 'reveal' },
      ...{ permissions: ['token:use'], destinations },
    });
    const proxyKey = await gateway.proxy(here);
    const id = await gateway.token('4242', { destinations: [here, 'api.example.com'] });
    const free = await gateway.token('4242');
    const bound = await gateway.application([], gateway.tenantId, [rule(['api.example.com'])]);
    const below = await gateway.application([], gateway.tenantId, [rule([`${here}/v1`])]);
    for (const token of [id, free]) {
      await isRefused(await call(proxyKey, `/{{${token}}}`, { apiKey: bound }), token);
      await isRefused(await call(proxyKey, `/v2/{{${token}}}`, { apiKey: below }), token);
      expect((await call(proxyKey, `/v1/{{${token}}}`, { apiKey: below })).status).toBe(200);
      destination.requests.length = 0;
    }
  });

  it('is refused under a mask as well', async () => {
    const proxyKey = await gateway.proxy(here);
    const masked = await gateway.application([], gateway.tenantId, [
      {
        ...{ description: '', priority: 1, container: '/', transform: 'mask' },
        permissions: ['token:use'],
      },
    ]);
    const id = await gateway.token('4242', { mask: 'XX', destinations: elsewhere });
    await isRefused(await call(proxyKey, `/{{${id}}}`, { apiKey: masked }), id);
  });

  it('cannot be freed by a step that stores what came in as another token', async () => {
    const application = await gateway.revocable(['token:create']);
    const requestSteps = [
      { type: 'tokenize', options: { path: '$.card', token: { type: 'token' } } },
    ] as const;
    const proxyKey = await gateway.proxy(here, { applicationId: application.id, requestSteps });
    const id = await gateway.token('4242', { destinations: [here] });
    const send = (card: string): Promise<Response> =>
      call(proxyKey, '/', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ card }),
      });
    await isRefused(await send(`{{ ${id} }}`), id);
    expect((await send('plain')).status).toBe(200);
  });
});
