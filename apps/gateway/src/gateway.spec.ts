import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { startDestination, waitFor, type Destination } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from './spec-gateway';

let gateway: SpecGateway;
let destination: Destination;
let key: string;
let proxyKey: string;

beforeAll(async () => {
  gateway = await startSpecGateway({ PROXY_BUFFER_MAX: '4096' });
  destination = await startDestination((request, response) => {
    if (request.url.startsWith('/hang')) return;
    if (request.url.startsWith('/reset')) return void response.destroy();
    if (request.url.startsWith('/redirect')) {
      return void response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    }
    if (request.url.startsWith('/forging')) {
      const headers = { 'SVC-Proxy-Destination-Status': '999', 'SVC-Trace-Id': 'forged' };
      return void response.writeHead(200, headers).end();
    }
    if (request.url.startsWith('/unchanged')) {
      return void response.writeHead(304, { etag: '"1"', 'content-length': '55' }).end();
    }
    if (request.url.startsWith('/later')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      return;
    }
    if (request.url.startsWith('/empty')) return void response.writeHead(204).end();
    if (request.url.startsWith('/teapot')) return void response.writeHead(418).end('short');
    if (request.url.startsWith('/large')) {
      return void response.writeHead(200, { 'set-cookie': ['a=1', 'b=2'] }).end('x'.repeat(5e6));
    }
    response.end('ok');
  });
  key = await gateway.application(['token:use']);
  proxyKey = await gateway.proxy(destination.url);
});

afterAll(async () => {
  await destination.close();
  await gateway.close();
});

afterEach(() => {
  destination.requests.length = 0;
});

function call(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    redirect: 'manual',
    ...init,
    headers: { 'SVC-API-KEY': key, 'SVC-PROXY-KEY': proxyKey, ...init.headers },
  });
}

const json = { 'Content-Type': 'application/json' };

/** Sends raw bytes and returns the status line of the answer. */
async function raw(text: string): Promise<string> {
  const socket = connect(gateway.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
  socket.end(text);
  await once(socket, 'close');
  return answer.split('\r\n', 1)[0] ?? '';
}

describe('a call of a proxy', () => {
  it.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    'is forwarded with its method %s',
    async (method) => {
      const answer = await call('/proxy/a', { method });
      expect(answer.status).toBe(200);
      expect(destination.requests).toMatchObject([{ method, url: '/a' }]);
    },
  );

  it('keeps path and query byte for byte', async () => {
    await call('/proxy/a%20b/c?x=%2F&svc-proxy-key=' + proxyKey + '&y&&z=1');
    expect(destination.requests[0]?.url).toBe('/a%20b/c?x=%2F&y&&z=1');
  });

  it('takes the key from the query, and under an alias of the prefix', async () => {
    const headers = { 'BT-API-KEY': key };
    const inQuery = await fetch(`${gateway.url}/proxy?bt-proxy-key=${proxyKey}`, { headers });
    expect(inQuery.status).toBe(200);
    const inHeader = await fetch(`${gateway.url}/proxy`, {
      headers: { ...headers, 'BT-PROXY-KEY': proxyKey },
    });
    expect(inHeader.status).toBe(200);
    for (const { headers: seen, url } of destination.requests) {
      expect(Object.keys(seen).filter((name) => /^(?:svc|bt)-/.test(name))).toEqual([]);
      expect(url).toBe('/');
    }
  });

  it.each([
    ['/teapot', 418, 'short'],
    ['/empty', 204, ''],
    ['/unchanged', 304, ''],
    ['/redirect', 302, ''],
  ])('passes on %s as it was answered', async (path, status, body) => {
    const answer = await call(`/proxy${path}`);
    expect([answer.status, await answer.text()]).toEqual([status, body]);
    expect(answer.headers.get('svc-proxy-destination-status')).toBe(String(status));
    expect(answer.headers.get('svc-trace-id')).toBeTruthy();
  });

  it('drops service headers of the destination', async () => {
    const { headers } = await call('/proxy/forging', { headers: { 'SVC-TRACE-ID': 'mine' } });
    expect(headers.get('svc-proxy-destination-status')).toBe('200');
    expect(headers.get('svc-trace-id')).toBe('mine');
  });

  it('gets the head of an answer before the first byte of its body', async () => {
    const leaving = new AbortController();
    const answer = await call('/proxy/later', { signal: leaving.signal });
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    leaving.abort();
  });

  it('streams large answers with all their headers', async () => {
    const answer = await call('/proxy/large');
    expect((await answer.text()).length).toBe(5e6);
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  });

  it('answers with the trace id that it was given', async () => {
    const given = await call('/proxy', { headers: { 'SVC-TRACE-ID': 'trace-1' } });
    expect(given.headers.get('svc-trace-id')).toBe('trace-1');
    const traceId = 'a'.repeat(32);
    const traced = await call('/proxy', {
      headers: { traceparent: `00-${traceId}-${'b'.repeat(16)}-01` },
    });
    expect(traced.headers.get('svc-trace-id')).toBe(traceId);
  });
});

describe('a call of a proxy is refused, as proxy_error,', () => {
  const refused = async (answer: Response, status: number, code: string): Promise<void> => {
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ proxy_error: { status, code } });
    expect(answer.headers.get('svc-proxy-destination-status')).toBeNull();
    expect(destination.requests).toEqual([]);
  };

  it('with 400 without a proxy key', async () => {
    const answer = await fetch(`${gateway.url}/proxy`, { headers: { 'SVC-API-KEY': key } });
    await refused(answer, 400, 'proxy_key_missing');
  });

  it('with 400 for two proxy keys that differ', async () => {
    await refused(await call('/proxy?svc-proxy-key=x'), 400, 'invalid_request');
  });

  it('with 401 without an API key or with a wrong one', async () => {
    const headers = { 'SVC-PROXY-KEY': proxyKey };
    await refused(await fetch(`${gateway.url}/proxy`, { headers }), 401, 'invalid_api_key');
    await refused(
      await call('/proxy', { headers: { 'SVC-API-KEY': 'nope' } }),
      401,
      'invalid_api_key',
    );
  });

  it('with 403 for an API key that may not use tokens', async () => {
    const reader = await gateway.application(['token:read']);
    const answer = await call('/proxy', { headers: { 'SVC-API-KEY': reader } });
    await refused(answer, 403, 'permission_denied');
  });

  it('with 404 for an unknown proxy and for the proxy of another tenant', async () => {
    const unknown = await call('/proxy', { headers: { 'SVC-PROXY-KEY': 'x'.repeat(22) } });
    await refused(unknown, 404, 'not_found');
    const foreign = await gateway.proxy(destination.url, { tenantId: crypto.randomUUID() });
    const answer = await call('/proxy', { headers: { 'SVC-PROXY-KEY': foreign } });
    await refused(answer, 404, 'not_found');
  });

  it('with 502 and, to strangers, one text for a destination that policy forbids or that is not there', async () => {
    const bodies = [];
    for (const url of ['https://169.254.169.254', 'http://127.0.0.1:1', 'https://10.0.0.1/x']) {
      const proxyKey = await gateway.proxy(url, { requireAuth: false });
      const answer = await fetch(`${gateway.url}/proxy`, {
        headers: { 'SVC-PROXY-KEY': proxyKey },
      });
      expect(answer.status).toBe(502);
      bodies.push(await answer.text());
    }
    expect(new Set(bodies).size).toBe(1);
  });

  it('with 502 for a destination that hangs up', async () => {
    const answer = await call('/proxy/reset', { method: 'POST' });
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({
      proxy_error: { code: 'destination_unreachable' },
    });
  });

  it('with 504 for a destination that does not answer in time', async () => {
    const impatient = await gateway.proxy(destination.url, { timeoutMs: 300 });
    const answer = await call('/proxy/hang', { headers: { 'SVC-PROXY-KEY': impatient } });
    expect(answer.status).toBe(504);
    expect(await answer.json()).toMatchObject({ proxy_error: { code: 'destination_timeout' } });
  });

  it('with 503 for a transform that no runner can run', async () => {
    const transforming = await gateway.proxy(destination.url, {
      requestTransform: { code: '', codeHash: '', runtime: 'node16' },
    });
    const answer = await call('/proxy', { headers: { 'SVC-PROXY-KEY': transforming } });
    expect(answer.headers.get('retry-after')).toBe('1');
    await refused(answer, 503, 'no_capacity');
  });
});

describe('a caller that leaves', () => {
  it('ends the request to the destination', async () => {
    let gone = 0;
    const slow = await startDestination((_request, response) => {
      response.on('close', () => (gone += 1));
    });
    try {
      const slowKey = await gateway.proxy(slow.url);
      const callers = Array.from({ length: 50 }, () => new AbortController());
      const calls = callers.map(({ signal }) =>
        call('/proxy', { signal, headers: { 'SVC-PROXY-KEY': slowKey } }).catch(() => undefined),
      );
      await waitFor(() => slow.requests.length === 50);
      for (const caller of callers) caller.abort();
      await waitFor(() => gone === 50, { timeoutMs: 1_000 });
      await Promise.all(calls);
    } finally {
      await slow.close();
    }
  });
});

describe('ambiguous HTTP', () => {
  it.each([
    ['two Host headers', 'GET /proxy HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
    ['no Host header', 'GET /proxy HTTP/1.1\r\n\r\n', 400],
    ['no HTTP at all', 'nonsense\r\n\r\n', 400],
    ['headers without end', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
    ['an absolute target', 'GET http://x/proxy HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a method of its own', 'PROPFIND /proxy HTTP/1.1\r\nHost: a\r\n\r\n', 405],
    [
      'an empty Transfer-Encoding beside a length',
      'POST /proxy HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \r\nContent-Length: 3\r\n\r\nabc',
      400,
    ],
    [
      'chunks in HTTP/1.0',
      'POST /proxy HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    [
      'a transfer encoding beside chunked',
      'POST /proxy HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
  ])('%s is refused', async (_, text, status) => {
    expect(await raw(text)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(destination.requests).toEqual([]);
  });

  it('on a proxy call is a proxy_error from the first check on', async () => {
    const answer = await fetch(`${gateway.url}/proxy`, { method: 'PROPFIND' });
    expect([answer.status, await answer.json()]).toMatchObject([
      405,
      { proxy_error: { code: 'method_not_allowed' } },
    ]);
  });

  it('with two API keys is refused at the front door too', async () => {
    const keys = `SVC-API-KEY: ${key}\r\nSVC-API-KEY: ${key}\r\n`;
    expect(await raw(`GET /reactors HTTP/1.1\r\nHost: a\r\n${keys}\r\n`)).toMatch(/ 400 /);
  });

  it('with a service key given twice is refused', async () => {
    const head = `GET /proxy HTTP/1.1\r\nHost: a\r\nSVC-PROXY-KEY: ${proxyKey}\r\n`;
    const keys = `SVC-API-KEY: ${key}\r\nBT-API-KEY: ${key}\r\n\r\n`;
    expect(await raw(head + keys)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it.each([
    '/proxyfoo',
    '/Proxy',
    '/PROXY/a',
    '/Reactors/x/react',
    '/reactors/x/React',
    '/Health/live',
  ])('does not make %s a path of the gateway', async (path) => {
    await call(path, { method: 'POST' });
    expect(destination.requests).toEqual([]);
    expect(gateway.management.requests.at(-1)?.url).toBe(path);
  });
});

describe('a method that a path does not take gets 405 and Allow', () => {
  const forwarded = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

  it.each([
    ['/reactors/x/react', 'POST'],
    ['/reactors/x/react/?a', 'POST'],
    ['/health/live', 'GET, HEAD'],
    ['/health/ready/', 'GET, HEAD'],
  ])('at %s', async (path, allow) => {
    gateway.management.requests.length = 0;
    for (const method of [...forwarded.split(', '), 'PROPFIND']) {
      if (allow.split(', ').includes(method)) continue;
      // Without a key: the path alone decides.
      const answer = await fetch(gateway.url + path, { method });
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, allow]);
      if (method === 'HEAD') continue;
      expect(await answer.json()).toMatchObject({ status: 405, code: 'method_not_allowed' });
    }
    expect(gateway.management.requests).toEqual([]);
  });

  it.each(['/proxy', '/tokens'])('that nobody forwards, at %s', async (path) => {
    const answer = await fetch(gateway.url + path, { method: 'PROPFIND' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, forwarded]);
  });
});

describe('a caller that waits for 100 Continue', () => {
  it('gets it only after the checks of the head, and sends nothing when refused', async () => {
    const ask = async (apiKey: string): Promise<[boolean, number | undefined]> => {
      const outgoing = httpRequest(`${gateway.url}/proxy`, {
        method: 'POST',
        headers: {
          ...json,
          Expect: '100-continue',
          'SVC-API-KEY': apiKey,
          'SVC-PROXY-KEY': proxyKey,
        },
      });
      let continued = false;
      outgoing.on('continue', () => {
        continued = true;
        outgoing.end('{}');
      });
      outgoing.flushHeaders();
      const [response] = (await once(outgoing, 'response')) as [{ statusCode?: number }];
      outgoing.destroy();
      return [continued, response.statusCode];
    };
    expect(await ask(key)).toEqual([true, 200]);
    expect(await ask('nope')).toEqual([false, 401]);
    const atFrontDoor = httpRequest(`${gateway.url}/tokens`, {
      method: 'POST',
      headers: { ...json, Expect: '100-continue' },
    });
    atFrontDoor.on('continue', () => atFrontDoor.end('{}'));
    atFrontDoor.flushHeaders();
    const [managed] = (await once(atFrontDoor, 'response')) as [{ statusCode?: number }];
    atFrontDoor.destroy();
    expect(managed.statusCode).toBe(200);
    const seen = destination.requests.flatMap(({ rawHeaders }) => rawHeaders.join().toLowerCase());
    expect(seen.join()).not.toMatch(/expect|svc-/);
  });
});

describe('the front door', () => {
  it('passes on a DELETE with chunks as one request with its body', async () => {
    gateway.management.requests.length = 0;
    const outgoing = httpRequest(`${gateway.url}/reactors/x`, { method: 'DELETE' });
    outgoing.setHeader('Transfer-Encoding', 'chunked');
    outgoing.end('GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n');
    const [response] = (await once(outgoing, 'response')) as [{ resume(): void }];
    response.resume();
    const next = await fetch(`${gateway.url}/tenants/self`);
    expect(next.status).toBe(200);
    expect(gateway.management.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'DELETE /reactors/x',
      'GET /tenants/self',
    ]);
    expect(gateway.management.requests[0]?.text()).toContain('smuggled');
  });

  it('answers 503 when the management API is away', async () => {
    const lonely = await startSpecGateway({ MANAGEMENT_URL: 'http://127.0.0.1:1' });
    try {
      const answer = await fetch(`${lonely.url}/reactors`);
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(await answer.json()).toMatchObject({ code: 'service_unavailable', status: 503 });
    } finally {
      await lonely.close();
    }
  });
});
