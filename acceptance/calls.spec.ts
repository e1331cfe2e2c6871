import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { call, create, reactorOf, runningProduct, until } from './product';
import { startReceiver, type Receiver } from './receiver';

const product = runningProduct();
let receiver: Receiver;
let proxy: { id: string; key: string };

beforeAll(async () => {
  receiver = await startReceiver((response, request) => {
    if (request.url.startsWith('/refuses')) response.writeHead(503);
    response.end('answered');
  });
  proxy = await proxyTo(receiver.url);
});
afterAll(() => receiver.close());

const proxyTo = async (destination_url: string): Promise<{ id: string; key: string }> => {
  const { id, key } = await create(product, '/proxies', { name: 'calls', destination_url });
  return { id, key: String(key) };
};
const read = async (path: string, key = product.adminKey): Promise<Record<string, unknown>> => {
  const { status, text, body } = await call('GET', `${product.baseUrl}${path}`, { key });
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${text}`);
  return body;
};

interface Logged {
  readonly id: string;
  readonly [member: string]: unknown;
}

/** The line of a call, once it is there. */
async function logged(traceId: string): Promise<Logged> {
  let found: Logged | undefined;
  await until(async () => {
    const { data } = await read(`/calls?trace_id=${traceId}`);
    [found] = data as Logged[];
    return found !== undefined;
  });
  if (!found) throw new Error('unreachable');
  return found;
}

async function called(
  path: string,
  proxyKey: string,
  headers: Record<string, string> = {},
): Promise<string> {
  const traceId = randomUUID();
  await call('POST', `${product.baseUrl}/proxy${path}`, {
    key: product.privateKey,
    body: { secret: 'planted-body' },
    headers: { 'SVC-PROXY-KEY': proxyKey, 'SVC-TRACE-ID': traceId, ...headers },
  });
  return traceId;
}

it('a call through a proxy is found by its trace id, with all that is known of it', async () => {
  const line = await logged(await called('/planted-path?a=planted-query', proxy.key));
  expect(line).toMatchObject({
    ...{ method: 'POST', path: '/proxy', outcome: 'completed', status: 200, count: 1 },
    ...{ destination_status: 200, proxy_id: proxy.id, request_bytes: 25, answer_bytes: 8 },
  });
  expect(JSON.stringify(line)).not.toContain('planted');
  expect(await read(`/calls/${line.id}`)).toEqual(line);
});

it('a call that failed is told from one that its destination refused', async () => {
  const nowhere = await proxyTo('https://there-is-no-such-name.invalid');
  expect(await logged(await called('/', nowhere.key))).toMatchObject({
    ...{ outcome: 'failed', status: 502, code: 'destination_unreachable', proxy_id: nowhere.id },
  });
  expect(await logged(await called('/refuses', proxy.key))).toMatchObject({
    ...{ outcome: 'destination_error', status: 503, destination_status: 503 },
  });
  const { data } = await read(`/calls?proxy_id=${proxy.id}&outcome=destination_error`);
  expect(data).toHaveLength(1);
});

it('a call of a reactor names its run, and a management request its operation, once each', async () => {
  const id = await reactorOf(product, 'module.exports = async () => ({ raw: 1 });');
  const traceId = randomUUID();
  await call('POST', `${product.baseUrl}/reactors/${id}/react`, {
    key: product.privateKey,
    body: { args: {} },
    headers: { 'SVC-TRACE-ID': traceId },
  });
  const line = await logged(traceId);
  expect(line).toMatchObject({ path: '/reactors/{id}/react', reactor_id: id, status: 200 });
  await until(async () => {
    const { status } = await call('GET', `${product.baseUrl}/runs/${String(line.run_id)}`, {
      key: product.adminKey,
    });
    return status === 200;
  });
  const managed = randomUUID();
  await call('GET', `${product.baseUrl}/reactors/${id}`, {
    key: product.adminKey,
    headers: { 'SVC-TRACE-ID': managed },
  });
  expect(await logged(managed)).toMatchObject({ path: '/reactors/{id}', status: 200 });
  const { data } = await read(`/calls?trace_id=${managed}`);
  expect(data).toHaveLength(1);
});

it('neither another tenant nor a key without log:read sees a call', async () => {
  const line = await logged(await called('/', proxy.key));
  const other = product.secondTenant.adminKey;
  const path = `${product.baseUrl}/calls/${line.id}`;
  expect((await call('GET', path, { key: other })).status).toBe(404);
  expect((await call('GET', path, { key: product.privateKey })).status).toBe(403);
  expect((await call('GET', path)).status).toBe(401);
  expect(await read(`/calls?proxy_id=${proxy.id}`, other)).toMatchObject({ data: [] });
});

it('the overview names the apps with their release, and the level of each runner', async () => {
  let seen: Record<string, unknown> = {};
  await until(async () => {
    seen = await read('/overview');
    return (seen.processes as unknown[]).length === 3 && (seen.runners as unknown[]).length > 0;
  });
  // Gateway and worker are connected to the same one.
  expect(seen.runners).toHaveLength(1);
  const apps = (seen.processes as { app: string; version: string }[]).map(({ app }) => app);
  expect(new Set(apps)).toEqual(new Set(['gateway', 'management-api', 'worker']));
  const { version } = JSON.parse(readFileSync(join(__dirname, '../package.json'), 'utf8')) as {
    version: string;
  };
  for (const runner of seen.runners as unknown[]) {
    expect(runner).toMatchObject({ version, level: expect.any(Number) as number });
  }
});

it('1,000 mixed calls are counted to the last one, by lines, by minutes and in the overview', async () => {
  const busy = await proxyTo(receiver.url);
  const parts = Array.from({ length: 10 }, async () => {
    for (let nth = 0; nth < 100; nth += 1) await called(nth % 4 === 0 ? '/refuses' : '/', busy.key);
  });
  await Promise.all(parts);
  const sumOf = (entries: unknown, member: string): number =>
    (entries as Record<string, number>[]).reduce((sum, entry) => sum + (entry[member] ?? 0), 0);
  await until(async () => {
    const { data } = await read(`/calls/summary?proxy_id=${busy.id}`);
    return sumOf(data, 'calls') === 1_000;
  }, 20_000);
  let lines = 0;
  let after = '';
  do {
    const { data, pagination } = await read(
      `/calls?proxy_id=${busy.id}&size=100${after && `&after=${after}`}`,
    );
    lines += sumOf(data, 'count');
    after = (pagination as { after?: string }).after ?? '';
  } while (after !== '');
  expect(lines).toBe(1_000);
  const { resources } = await read('/overview');
  const shown = (resources as Record<string, unknown>[]).find(
    ({ proxy_id }) => proxy_id === busy.id,
  );
  expect(shown).toMatchObject({ name: 'calls', calls: 1_000, failed: 250 });
});
