import { randomBytes, randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { freePort, startDestination, waitFor, type Destination } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';

let gateway: SpecGateway;
let destination: Destination;
let application: { key: string; id: string };

beforeAll(async () => {
  gateway = await startSpecGateway();
  destination = await startDestination(async (request, response) => {
    if (request.url.startsWith('/refuses')) response.writeHead(503).end('busy');
    else if (request.url.startsWith('/breaks')) {
      response.writeHead(200, { 'content-length': '100' }).write('part');
      await waitFor(() => request.url.endsWith('now') || breaksNow);
      response.destroy();
    } else if (!request.url.startsWith('/hangs')) response.end('{"done":true}');
  });
  application = await gateway.revocable(['token:use']);
});
afterAll(async () => {
  await destination.close();
  await gateway.close();
});

let breaksNow = false;

type Row = Record<string, unknown>;

const rowsOf = (traceId: string): Promise<Row[]> =>
  gateway.asAdmin(`SELECT * FROM calls WHERE trace_id = '${traceId}'`) as Promise<Row[]>;

/** The row of a call, once it is written. */
const rowOf = (traceId: string): Promise<Row> =>
  waitFor(async () => {
    const [row] = await rowsOf(traceId);
    if (!row) throw new Error('not written yet');
    return row;
  });

async function call(
  path: string,
  {
    headers = {},
    isAnonymous = false,
    ...init
  }: RequestInit & { headers?: Record<string, string>; isAnonymous?: boolean } = {},
): Promise<{ traceId: string; answer: Response }> {
  const traceId = randomUUID();
  const key = isAnonymous ? {} : { 'SVC-API-KEY': application.key };
  const answer = await fetch(`${gateway.url}${path}`, {
    ...init,
    headers: { 'SVC-TRACE-ID': traceId, ...key, ...headers },
  });
  await answer.text().catch(() => undefined);
  return { traceId, answer };
}

it('a call through a proxy is logged with its ids, phases and sizes, and no part of what was sent', async () => {
  const proxyKey = await gateway.proxy(destination.url);
  const [inPath, inBody] = [await gateway.token('sesame'), await gateway.token('simsim')];
  const body = JSON.stringify({ secret: 'planted-body', token: `{{ ${inBody} }}` });
  const { traceId } = await call(`/proxy/planted-path/{{${inPath}}}?q=planted-query`, {
    method: 'POST',
    body,
    headers: {
      'SVC-PROXY-KEY': proxyKey,
      'Content-Type': 'application/json',
      'X-A': 'planted-header',
    },
  });
  const row = await rowOf(traceId);
  expect(row).toMatchObject({
    ...{ tenant_id: gateway.tenantId, method: 'POST', path: '/proxy', outcome: 'completed' },
    ...{ status: 200, destination_status: 200, code: null, cause: null, count: 1 },
    ...{ application_id: application.id, proxy_id: expect.any(String) as string },
    ...{ request_bytes: String(body.length), answer_bytes: '13' },
  });
  expect((row.token_ids as string[]).toSorted()).toEqual([inPath, inBody].toSorted());
  const phases = [row.decided_ms, row.asked_ms, row.answered_ms, row.ended_ms] as number[];
  expect(phases).toEqual(phases.toSorted((a, b) => a - b));
  expect(phases.every((ms) => ms > 0)).toBe(true);
  expect(JSON.stringify(row)).not.toMatch(/planted|sesame|simsim/);
});

it('a body in chunks is as long as it came', async () => {
  const proxyKey = await gateway.proxy(destination.url);
  const body = new Blob([randomBytes(200_000)]).stream();
  const { traceId } = await call('/proxy', {
    method: 'POST',
    body,
    headers: { 'SVC-PROXY-KEY': proxyKey },
    ...{ duplex: 'half' },
  });
  expect(await rowOf(traceId)).toMatchObject({ request_bytes: '200000', status: 200 });
});

describe('the outcome', () => {
  it('is destination_error where the destination refuses', async () => {
    const proxyKey = await gateway.proxy(destination.url);
    const { traceId } = await call('/proxy/refuses', { headers: { 'SVC-PROXY-KEY': proxyKey } });
    const outcome = 'destination_error';
    expect(await rowOf(traceId)).toMatchObject({ outcome, status: 503, destination_status: 503 });
  });

  it('is failed, with the code, where the destination is not reached', async () => {
    const proxyKey = await gateway.proxy(`http://127.0.0.1:${await freePort()}`);
    const { traceId } = await call('/proxy', { headers: { 'SVC-PROXY-KEY': proxyKey } });
    expect(await rowOf(traceId)).toMatchObject({
      ...{ outcome: 'failed', status: 502, code: 'destination_unreachable' },
      ...{ destination_status: null, answered_ms: null, asked_ms: expect.any(Number) as number },
    });
  });

  it('is failed where the destination breaks off its answer', async () => {
    const proxyKey = await gateway.proxy(destination.url);
    const traceId = randomUUID();
    const answer = await fetch(`${gateway.url}/proxy/breaks`, {
      headers: {
        'SVC-API-KEY': application.key,
        'SVC-PROXY-KEY': proxyKey,
        'SVC-TRACE-ID': traceId,
      },
    });
    breaksNow = true;
    await expect(answer.text()).rejects.toThrow();
    expect(await rowOf(traceId)).toMatchObject({
      ...{ outcome: 'failed', status: 200, destination_status: 200 },
      ...{ code: 'destination_unreachable', answer_bytes: '4' },
    });
  });

  it('is left where the caller leaves before an answer', async () => {
    const proxyKey = await gateway.proxy(destination.url);
    const traceId = randomUUID();
    const caller = connect(gateway.port, '127.0.0.1');
    caller.write(
      `GET /proxy/hangs HTTP/1.1\r\nHost: a\r\nSVC-API-KEY: ${application.key}\r\n` +
        `SVC-PROXY-KEY: ${proxyKey}\r\nSVC-TRACE-ID: ${traceId}\r\n\r\n`,
    );
    await waitFor(() => destination.requests.some(({ url }) => url === '/hangs'));
    caller.destroy();
    expect(await rowOf(traceId)).toMatchObject({ outcome: 'left', status: null, code: null });
  });
});

it('a refused call belongs to the tenant of its key, and one without a valid key to nobody', async () => {
  const proxyKey = await gateway.proxy(destination.url);
  const powerless = await gateway.revocable(['token:read']);
  const headers = { 'SVC-PROXY-KEY': proxyKey };
  const stranger = await call('/proxy', { headers: { ...headers, 'SVC-API-KEY': 'no key' } });
  expect(stranger.answer.status).toBe(401);
  const refused = await call('/proxy', { headers: { ...headers, 'SVC-API-KEY': powerless.key } });
  expect(await rowOf(refused.traceId)).toMatchObject({
    ...{ tenant_id: gateway.tenantId, application_id: powerless.id, status: 403 },
    ...{ outcome: 'failed', code: 'permission_denied' },
  });
  const otherTenant = randomUUID();
  const foreign = await gateway.application(['token:use'], otherTenant);
  const unknown = await call('/proxy', { headers: { ...headers, 'SVC-API-KEY': foreign } });
  expect(await rowOf(unknown.traceId)).toMatchObject({
    ...{ tenant_id: otherTenant, status: 404, proxy_id: null },
  });
  expect(await rowsOf(stranger.traceId)).toEqual([]);
});

it('an anonymous call belongs to the tenant of its proxy, with no application', async () => {
  const proxyKey = await gateway.proxy(destination.url, { requireAuth: false });
  const { traceId, answer } = await call('/proxy', {
    isAnonymous: true,
    headers: { 'SVC-PROXY-KEY': proxyKey },
  });
  expect(answer.status).toBe(200);
  expect(await rowOf(traceId)).toMatchObject({
    ...{ tenant_id: gateway.tenantId, application_id: null },
    ...{ proxy_id: expect.any(String) as string },
  });
});

it('a call of a reactor has the template of its path, and the id of its run', async () => {
  const reactorId = await gateway.reactor();
  const { traceId } = await call(`/reactors/${reactorId}/react`, {
    method: 'POST',
    body: '{}',
    headers: { 'Content-Type': 'application/json' },
  });
  const row = await rowOf(traceId);
  expect(row).toMatchObject({
    ...{ path: '/reactors/{id}/react', reactor_id: reactorId, outcome: 'failed' },
    ...{ status: 503, request_bytes: '2' },
  });
  const [run] = (await waitFor(async () => {
    const runs = await gateway.asAdmin(`SELECT id FROM ended_runs WHERE trace_id = '${traceId}'`);
    return runs.length > 0 ? runs : undefined;
  })) as { id: string }[];
  expect(row.run_id).toBe(run?.id);
  const unknown = await call('/reactors/planted-id/react', { method: 'POST' });
  const refused = await rowOf(unknown.traceId);
  expect(refused).toMatchObject({ path: '/reactors/{id}/react', reactor_id: null, status: 404 });
  expect(JSON.stringify(refused)).not.toMatch(/planted/);
});

it('a run that is accepted has its id and its tokens in the line, and its id where it is repeated', async () => {
  const [reactorId, token] = [await gateway.reactor(), await gateway.token('sesame')];
  const accept = (idempotencyKey: string) =>
    call(`/reactors/${reactorId}/react`, {
      method: 'POST',
      body: JSON.stringify({
        args: { a: `{{ ${token} }}` },
        callback_url: 'http://127.0.0.1:9/hook',
      }),
      headers: { 'Content-Type': 'application/json', 'SVC-IDEMPOTENCY-KEY': idempotencyKey },
    });
  const once = randomUUID();
  const [first, again] = [await accept(once), await accept(once)];
  expect(again.answer.headers.get('svc-idempotent-replay')).toBe('true');
  const [run] = (await gateway.asAdmin(
    `SELECT id FROM reactor_runs WHERE trace_id = '${first.traceId}'`,
  )) as { id: string }[];
  expect(await rowOf(first.traceId)).toMatchObject({ run_id: run?.id, token_ids: [token] });
  expect(await rowOf(again.traceId)).toMatchObject({ run_id: run?.id, status: 202 });
});

it('what the management API answers is left to its log, and what the front door refuses is logged here', async () => {
  const passed = await call('/tokens/planted');
  expect(passed.answer.status).toBe(200);
  await gateway.management.close();
  // The kept connection is gone, and the next one is refused.
  await call('/tokens/planted');
  const refused = await call('/tokens/planted');
  expect(refused.answer.status).toBe(503);
  const row = await rowOf(refused.traceId);
  expect(row).toMatchObject({
    ...{ tenant_id: gateway.tenantId, application_id: application.id, path: '*' },
    ...{ outcome: 'failed', status: 503, code: 'service_unavailable' },
  });
  expect(await rowsOf(passed.traceId)).toEqual([]);
});

it('a gateway that stops writes what it has counted', async () => {
  const proxyKey = await gateway.proxy(destination.url);
  const { traceId } = await call('/proxy', { headers: { 'SVC-PROXY-KEY': proxyKey } });
  const row = await rowOf(traceId);
  await gateway.stop();
  const counts = await gateway.asAdmin(
    `SELECT sum(calls)::int AS calls FROM call_summary WHERE proxy_id = '${String(row.proxy_id)}'`,
  );
  expect(counts).toEqual([{ calls: 1 }]);
  const [sums] = await gateway.asAdmin(
    `SELECT (SELECT sum(count) FROM calls)::int AS logged,
       (SELECT sum(calls) FROM call_summary)::int AS counted`,
  );
  const { logged, counted } = sums as { logged: number; counted: number };
  expect(logged).toBe(counted);
});
