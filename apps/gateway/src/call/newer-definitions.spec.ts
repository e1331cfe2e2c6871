import { readerVersion } from '@glovebox/database';
import type { DefinitionKind } from '@glovebox/definitions';
import { startDestination, type Destination } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';

let gateway: SpecGateway;
let destination: Destination;
let key: string;

beforeAll(async () => {
  gateway = await startSpecGateway();
  destination = await startDestination();
  key = await gateway.application(['token:use']);
});

afterAll(async () => {
  await destination.close();
  await gateway.close();
});

afterEach(() => {
  destination.requests.length = 0;
});

const needReader = (v: number, kind: DefinitionKind, id: string): Promise<void> =>
  gateway.rewrite({ kind, id }, (payload) => ({ ...payload, v }));

const through = (proxyKey: string, headers: Record<string, string> = { 'SVC-API-KEY': key }) =>
  fetch(`${gateway.url}/proxy`, { headers: { 'SVC-PROXY-KEY': proxyKey, ...headers } });

const react = (reactor: string, apiKey = key) =>
  fetch(`${gateway.url}/reactors/${reactor}/react`, {
    method: 'POST',
    headers: { 'SVC-API-KEY': apiKey },
  });

/** Nothing has left, and the caller is told to come again. */
async function tooOld(answer: Response): Promise<void> {
  const body = (await answer.json()) as { proxy_error?: object };
  expect({ status: answer.status, ...(body.proxy_error ?? body) }).toMatchObject({
    status: 503,
    code: 'newer_definition',
  });
  expect(answer.headers.get('retry-after')).toBe('1');
  expect(destination.requests).toEqual([]);
}

it('a proxy that needs a newer gateway is refused, beside all others, until it is readable again', async () => {
  const proxy = await gateway.changeableProxy(destination.url);
  const other = await gateway.proxy(destination.url);
  await needReader(readerVersion + 1, 'proxy', proxy.id);
  await tooOld(await through(proxy.key));
  expect((await through(other)).status).toBe(200);
  await needReader(1, 'proxy', proxy.id);
  expect((await through(proxy.key)).status).toBe(200);
});

it('a capture of a newer release keeps no call from being served', async () => {
  const { id, key: proxyKey } = await gateway.changeableProxy(destination.url);
  const until = new Date(Date.now() + 60_000).toISOString();
  await gateway.define({ kind: 'capture', id, tenantId: gateway.tenantId, until, whole: false });
  await needReader(readerVersion + 1, 'capture', id);
  expect((await through(proxyKey)).status).toBe(200);
});

it('a proxy without callers that needs a newer gateway is refused to a page as well', async () => {
  const proxy = await gateway.changeableProxy(destination.url, {
    requireAuth: false,
    allowedOrigins: ['https://shop.example'],
  });
  await needReader(readerVersion + 1, 'proxy', proxy.id);
  await tooOld(await through(proxy.key, { Origin: 'https://shop.example' }));
  await tooOld(await through(proxy.key, {}));
});

it('a step that this gateway does not know is not skipped, although its proxy names a known version', async () => {
  const proxy = await gateway.changeableProxy(destination.url);
  await gateway.rewrite({ kind: 'proxy', id: proxy.id }, ({ definition, ...rest }) => ({
    ...rest,
    definition: { ...definition, requestSteps: [{ type: 'scramble', options: { path: '$' } }] },
  }));
  await tooOld(await through(proxy.key));
});

it('a key of an application that needs a newer gateway is refused with 503, and one revoked there with 401', async () => {
  const proxy = await gateway.proxy(destination.url);
  const reactor = await gateway.reactor();
  const application = await gateway.revocable(['token:use']);
  const asIt = { 'SVC-API-KEY': application.key };
  await needReader(readerVersion + 1, 'application', application.id);
  await tooOld(await through(proxy, asIt));
  await tooOld(await react(reactor, application.key));
  await gateway.rewrite({ kind: 'application', id: application.id }, (payload) => ({
    ...payload,
    recognise: { keys: [] },
  }));
  expect((await through(proxy, asIt)).status).toBe(401);
  expect(destination.requests).toEqual([]);
});

it('a reactor is refused while it, its formula or its application needs a newer gateway', async () => {
  const application = await gateway.revocable(['token:use']);
  const id = await gateway.reactor();
  const found = gateway.ctx.follower.lastKnown.find('reactor', gateway.tenantId, id);
  await needReader(readerVersion + 1, 'reactor', id);
  await tooOld(await react(id));
  await needReader(1, 'reactor', id);
  await needReader(readerVersion + 1, 'formula', String(found?.formulaId));
  await tooOld(await react(id));
  await needReader(1, 'formula', String(found?.formulaId));
  await gateway.rewrite({ kind: 'reactor', id }, ({ definition, ...rest }) => ({
    ...rest,
    definition: { ...definition, applicationId: application.id },
  }));
  await needReader(readerVersion + 1, 'application', application.id);
  await tooOld(await react(id));
});

it('a proxy that is not stored is refused while its tenant needs a newer gateway', async () => {
  await gateway.tenantSettings({ enable_ephemeral_proxy: 'true' });
  const asked = () =>
    fetch(`${gateway.url}/proxy`, {
      headers: { 'SVC-API-KEY': key, 'SVC-PROXY-URL': destination.url },
    });
  await needReader(readerVersion + 1, 'tenant', gateway.tenantId);
  await tooOld(await asked());
  await needReader(1, 'tenant', gateway.tenantId);
  expect((await asked()).status).toBe(200);
});

it('a stranger learns nothing of definitions that need a newer gateway', async () => {
  const proxy = await gateway.changeableProxy(destination.url);
  await needReader(readerVersion + 1, 'proxy', proxy.id);
  const guessed = await through('0'.repeat(22));
  expect(guessed.status).toBe(404);
  expect((await react('6b0f6f2c-1b1d-4f0a-9d0e-0d4a6f4f9b11')).status).toBe(404);
});

it('the metrics count definitions that need a newer process, and the gateway stays ready', async () => {
  const answer = await fetch(`${gateway.opsUrl}/metrics`);
  expect(await answer.text()).toMatch(/^glovebox_definitions_newer\{[^}]*\} [1-9]/m);
  expect((await fetch(`${gateway.opsUrl}/health/ready`)).status).toBe(200);
});

it('a gateway that is told to is not ready while a definition needs a newer one', async () => {
  const strict = await startSpecGateway({ READY_WITH_NEWER_DEFINITIONS: 'false' });
  try {
    const proxy = await strict.changeableProxy(destination.url);
    const ready = async (): Promise<unknown> => {
      const answer = await fetch(`${strict.opsUrl}/health/ready`);
      const { components } = (await answer.json()) as { components: { definitions: string } };
      return [answer.status, components.definitions];
    };
    expect(await ready()).toEqual([200, 'up']);
    const { id } = proxy;
    const rewrite = (v: number) =>
      strict.rewrite({ kind: 'proxy', id }, (payload) => ({ ...payload, v }));
    await rewrite(readerVersion + 1);
    expect(await ready()).toEqual([503, 'this process is too old for 1 definitions']);
    await rewrite(1);
    expect(await ready()).toEqual([200, 'up']);
  } finally {
    await strict.close();
  }
});
