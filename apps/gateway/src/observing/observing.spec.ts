import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:net';
import { once } from 'node:events';
import { startDestination, waitFor, type Destination } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { key: string; value: Record<string, unknown> }[];
}

let collector: Destination;
let collectorAnswers: boolean;
let gateway: SpecGateway;
let destination: Destination;
let key: string;
let proxyKey: string;
/** A proxy whose steps cannot read what its destination answers. */
let steppedKey: string;

beforeAll(async () => {
  collector = await startDestination((_request, response) => {
    if (collectorAnswers) response.end('{}');
  });
  gateway = await startSpecGateway({ ACCESS_LOG: 'true', TRACE_OTLP_URL: collector.url });
  destination = await startDestination((request, response) => {
    if (!request.url.startsWith('/hang')) response.end('ok');
  });
  key = await gateway.application(['token:use']);
  proxyKey = await gateway.proxy(destination.url);
  steppedKey = await gateway.proxy(destination.url, {
    responseSteps: [{ type: 'remove', options: { location: 'body', path: '$.a' } }],
  });
});

beforeEach(() => {
  collectorAnswers = true;
  for (const { requests } of [collector, destination, gateway.management]) requests.length = 0;
  gateway.accessLog.length = 0;
});

afterAll(async () => {
  collectorAnswers = true;
  await destination.close();
  await gateway.close();
  await collector.close();
});

function call(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    ...init,
    headers: { 'SVC-API-KEY': key, 'SVC-PROXY-KEY': proxyKey, ...init.headers },
  });
}

const logged = (): Record<string, unknown>[] =>
  gateway.accessLog
    .join('')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Resolves with the log lines of these calls, once they are there. */
const linesOf = (...traceIds: string[]): Promise<Record<string, unknown>[]> =>
  waitFor(() =>
    traceIds.map((traceId) => {
      const [line] = logged().filter((one) => one.trace_id === traceId);
      if (!line) throw new Error('a call is not logged yet');
      return line;
    }),
  );

const traced = (traceId: string) => ({ headers: { 'SVC-TRACE-ID': traceId } });

const metrics = async (): Promise<string> => (await fetch(`${gateway.opsUrl}/metrics`)).text();

/** Sums the series of this name that have these labels. */
async function figure(name: string, ...labels: string[]): Promise<number> {
  return (await metrics())
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) && labels.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

describe('metrics', () => {
  it('stand in docs/operating.md, all of them and no others', async () => {
    await call('/proxy');
    const page = readFileSync(join(__dirname, '../../../../docs/operating.md'), 'utf8');
    const documented =
      page.match(/`glovebox_(?:build|gateway|definitions|share|run_log|call_log|captures)_\w+`/g) ??
      [];
    const names = (await metrics()).matchAll(/^# TYPE (glovebox_\w+)/gm);
    const exposed = Array.from(names, ([, name]) => `\`${name ?? ''}\``);
    expect([...new Set(documented)].sort()).toEqual(exposed.sort());
  });

  it('count calls by route and class of status, and requests to destinations separately', async () => {
    const counts = () =>
      Promise.all([
        figure('glovebox_gateway_request_seconds_count', 'route="proxy"', 'status="2xx"'),
        figure('glovebox_gateway_request_seconds_count', 'route="proxy"', 'status="4xx"'),
        figure('glovebox_gateway_destination_seconds_count', 'status="2xx"'),
      ]);
    const before = await counts();
    await call('/proxy', traced('counted-1'));
    await call('/proxy', { headers: { 'SVC-API-KEY': 'nope', 'SVC-TRACE-ID': 'counted-2' } });
    await linesOf('counted-1', 'counted-2');
    expect(await counts()).toEqual(before.map((count) => count + 1));
  });

  it('count the status that a destination answered, although its caller gets another', async () => {
    const counts = () =>
      Promise.all([
        figure('glovebox_gateway_request_seconds_count', 'route="proxy"', 'status="5xx"'),
        figure('glovebox_gateway_destination_seconds_count', 'status="2xx"'),
      ]);
    const before = await counts();
    const headers = { 'SVC-PROXY-KEY': steppedKey, 'SVC-TRACE-ID': 'unread' };
    expect((await call('/proxy', { headers })).status).toBe(502);
    await linesOf('unread');
    expect(await counts()).toEqual(before.map((count) => count + 1));
  });

  it('count callers that leave and calls under way', async () => {
    const left = () => figure('glovebox_gateway_callers_left_total', 'route="proxy"');
    const underWay = () => figure('glovebox_gateway_requests_in_flight');
    const before = await left();
    const leaving = new AbortController();
    const asked = call('/proxy/hang', { signal: leaving.signal, ...traced('left') });
    const failed = expect(asked).rejects.toThrow();
    await waitFor(async () => (await underWay()) === 1);
    leaving.abort();
    await failed;
    await waitFor(async () => (await left()) === before + 1);
    expect(await underWay()).toBe(0);
    expect(await linesOf('left')).toMatchObject([{ route: 'proxy', status: null, left: true }]);
  });

  it('show the number of definitions and their version', async () => {
    expect(await figure('glovebox_gateway_definitions')).toBeGreaterThan(1);
    const version = await figure('glovebox_definitions_version');
    expect(version).toBe(gateway.ctx.follower.head?.version);
    expect(await figure('glovebox_gateway_destinations')).toBe(1);
  });

  it('have no label for tenants, proxies or destinations', async () => {
    await call('/proxy');
    const page = await metrics();
    expect(page).not.toContain(gateway.tenantId);
    expect(page).not.toContain(destination.address);
  });
});

describe('the access log', () => {
  it('has one line per call, with ids, figures and the code of an error', async () => {
    const answer = await call('/proxy');
    await call('/proxy', { headers: { 'SVC-API-KEY': 'nope', 'SVC-TRACE-ID': 'refused' } });
    await call('/tokens', traced('managed'));
    const traceId = answer.headers.get('svc-trace-id') ?? '';
    expect(await linesOf(traceId, 'refused', 'managed')).toEqual([
      {
        time: expect.stringMatching(/^\d{4}-.*Z$/) as string,
        app: 'gateway',
        msg: 'call',
        route: 'proxy',
        method: 'GET',
        status: 200,
        ms: expect.any(Number) as number,
        trace_id: traceId,
        tenant_id: gateway.tenantId,
        proxy_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        destination: destination.address,
        destination_ms: expect.any(Number) as number,
      },
      expect.objectContaining({ status: 401, code: 'invalid_api_key' }),
      expect.objectContaining({ route: 'management', status: 200 }),
    ]);
  });

  it('has no proxy_id for an ephemeral proxy', async () => {
    await gateway.tenantSettings({ enable_ephemeral_proxy: 'true' });
    const headers = {
      'SVC-API-KEY': key,
      'SVC-PROXY-URL': destination.url,
      'SVC-TRACE-ID': 'ephemeral',
    };
    expect((await fetch(`${gateway.url}/proxy`, { headers })).status).toBe(200);
    const [line] = await linesOf('ephemeral');
    expect(line).toMatchObject({ tenant_id: gateway.tenantId, destination: destination.address });
    expect(line).not.toHaveProperty('proxy_id');
  });

  it('holds nothing that a caller sent: no path, query, header or body', async () => {
    const secret = '4111111111111111';
    const planted = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Card': secret, Cookie: secret },
      body: `{"card":"${secret}","broken":"{{ ${secret} }}"}`,
    };
    for (const path of ['proxy', 'reactors', 'tokens', 'reactors/x/react', 'proxyfoo']) {
      await call(`/${path}/${secret}?card=${secret}`, planted);
    }
    await call(`/reactors/${secret}/react?x=${secret}`, planted);
    await call(`/proxy/${secret}`, { headers: { 'SVC-PROXY-KEY': secret } });
    await call('/health/live', traced('last'));
    await linesOf('last');
    expect(logged().length).toBeGreaterThan(7);
    const text = gateway.accessLog.join('');
    for (const hidden of [secret, key, proxyKey, 'card']) expect(text).not.toContain(hidden);
  });
});

describe('the trace id', () => {
  it.each(['/proxy', '/reactors/x/react', '/health/live', '/health/ready'])(
    'given with %s is returned in the answer',
    async (path) => {
      const init = { method: path.endsWith('react') ? 'POST' : 'GET' };
      const { headers } = await call(path, { ...init, headers: { 'BT-TRACE-ID': 'trace-1' } });
      expect(headers.get('svc-trace-id')).toBe('trace-1');
    },
  );

  it('of a management call is the same in both apps', async () => {
    await call('/tokens', { headers: { 'BT-TRACE-ID': 'trace-2' } });
    await call('/tokens', { headers: { 'SVC-TRACE-ID': 'not fit for a header' } });
    const told = gateway.management.requests.map(({ headers }) => headers['svc-trace-id']);
    await linesOf(...told.map(String));
    expect(told).toEqual(['trace-2', expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    expect(gateway.management.requests[0]?.headers).not.toHaveProperty('bt-trace-id');
  });

  it('is in the answer to bytes that are not HTTP', async () => {
    const socket = connect(gateway.port, '127.0.0.1').end('nonsense\r\n\r\n');
    let answer = '';
    socket.on('data', (chunk) => (answer += String(chunk)));
    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*\r\nSVC-TRACE-ID: [0-9a-f-]{36}\r\n/);
  });
});

describe('traces', () => {
  let traceId: string;
  beforeEach(() => (traceId = randomBytes(16).toString('hex')));
  const parentId = '00f067aa0ba902b7';
  const sent = (): OtlpSpan[] =>
    collector.requests.flatMap(
      (request) =>
        (request.json() as { resourceSpans: { scopeSpans: { spans: OtlpSpan[] }[] }[] })
          .resourceSpans[0]?.scopeSpans[0]?.spans ?? [],
    );
  const spansOf = (id: string): Promise<OtlpSpan[]> =>
    waitFor(() => {
      const spans = sent().filter((span) => span.traceId === id);
      if (spans.length === 0) throw new Error('no span has come yet');
      return spans;
    });

  it('have a span of the call below the caller’s, and the destination gets the one below that', async () => {
    await call('/proxy/a', {
      headers: { traceparent: `00-${traceId}-${parentId}-01`, tracestate: 'a=b' },
    });
    const [server, client] = await spansOf(traceId);
    expect(server).toMatchObject({ kind: 2, parentSpanId: parentId, name: 'GET proxy' });
    expect(client).toMatchObject({ kind: 3, parentSpanId: server?.spanId, name: 'GET' });
    const told = destination.requests[0]?.headers;
    expect(told?.traceparent).toBe(`00-${traceId}-${client?.spanId ?? ''}-01`);
    expect(told?.tracestate).toBe('a=b');
    expect(collector.requests[0]?.url).toBe('/v1/traces');
    expect(BigInt(client?.startTimeUnixNano ?? 0)).toBeGreaterThanOrEqual(
      BigInt(server?.startTimeUnixNano ?? 0),
    );
  });

  it('give the span of the destination its own status, although its caller gets another', async () => {
    const traceparent = `00-${traceId}-${parentId}-01`;
    await call('/proxy', { headers: { 'SVC-PROXY-KEY': steppedKey, traceparent } });
    const statuses = (await spansOf(traceId)).map(
      ({ attributes }) =>
        attributes.find(({ key: name }) => name === 'http.response.status_code')?.value,
    );
    expect(statuses).toEqual([{ intValue: 502 }, { intValue: 200 }]);
  });

  it('begin anew without a valid traceparent, under the returned trace id', async () => {
    const answer = await call('/proxy', { headers: { traceparent: 'x', tracestate: 'a=b' } });
    const answered = answer.headers.get('svc-trace-id') ?? '';
    const [server] = await spansOf(answered.replaceAll('-', ''));
    expect(server).not.toHaveProperty('parentSpanId');
    expect(destination.requests[0]?.headers).not.toHaveProperty('tracestate');
  });

  it('leave out a call that the caller does not sample, and its flag is passed on', async () => {
    const unsampled = 'b'.repeat(32);
    await call('/proxy', { headers: { traceparent: `00-${unsampled}-${parentId}-00` } });
    await call('/proxy', { headers: { traceparent: `00-${traceId}-${parentId}-01` } });
    await spansOf(traceId);
    expect(sent().filter((span) => span.traceId === unsampled)).toEqual([]);
    expect(destination.requests[0]?.headers.traceparent).toMatch(
      new RegExp(`^00-${unsampled}-(?!${parentId})[0-9a-f]{16}-00$`),
    );
  });

  it('give the management API the span of the gateway', async () => {
    await call('/tokens', { headers: { traceparent: `00-${traceId}-${parentId}-01` } });
    const [server] = await spansOf(traceId);
    expect(gateway.management.requests[0]?.headers.traceparent).toBe(
      `00-${traceId}-${server?.spanId ?? ''}-01`,
    );
  });

  it('hold nothing that a caller sent', async () => {
    const secret = '4111111111111111';
    await call(`/proxy/${secret}?card=${secret}`, {
      method: 'POST',
      headers: { traceparent: `00-${traceId}-${parentId}-01`, 'X-Card': secret },
      body: secret,
    });
    await spansOf(traceId);
    const text = collector.requests.map((request) => request.text()).join();
    for (const hidden of [secret, key, proxyKey]) expect(text).not.toContain(hidden);
  });

  it('do not treat the collector as a destination, and drop spans without delay when it is dead', async () => {
    const atCollector = await gateway.proxy(collector.url);
    expect((await call('/proxy', { headers: { 'SVC-PROXY-KEY': atCollector } })).status).toBe(502);
    collectorAnswers = false;
    const dropped = () => figure('glovebox_gateway_spans_total', 'outcome="dropped"');
    const before = await dropped();
    expect((await call('/proxy')).status).toBe(200);
    await waitFor(async () => (await dropped()) > before, { timeoutMs: 15_000 });
  });
});

it('without settings for them there is no access log and no trace, and a traceparent is passed on', async () => {
  const plain = await startSpecGateway();
  try {
    const traceparent = `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01`;
    const headers = {
      traceparent,
      'SVC-API-KEY': await plain.application(['token:use']),
      'SVC-PROXY-KEY': await plain.proxy(destination.url),
    };
    const answer = await fetch(`${plain.url}/proxy`, { headers });
    expect(answer.headers.get('svc-trace-id')).toBe('c'.repeat(32));
    expect(destination.requests[0]?.headers.traceparent).toBe(traceparent);
    expect([plain.ctx.accessLog, plain.ctx.tracer]).toEqual([null, null]);
  } finally {
    await plain.close();
  }
  expect(plain.accessLog).toEqual([]);
});
