import { createServer as createHttpsServer } from 'node:https';
import { once } from 'node:events';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { createAuthority, freePort, startDestination, waitFor } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from './spec-gateway';

let gateway: SpecGateway;
let key: string;

beforeAll(async () => {
  gateway = await startSpecGateway({ DESTINATION_CALLS_MAX: '2' });
  key = await gateway.application(['token:use']);
});

afterAll(() => gateway.close());

function call(
  proxyKey: string,
  init: RequestInit = {},
  apiKey = key,
  path = '',
): Promise<Response> {
  return fetch(`${gateway.url}/proxy${path}`, {
    ...init,
    headers: { 'SVC-API-KEY': apiKey, 'SVC-PROXY-KEY': proxyKey },
  });
}

async function codeOf(answer: Response): Promise<[number, string | undefined]> {
  const { proxy_error } = (await answer.json()) as { proxy_error?: { code: string } };
  return [answer.status, proxy_error?.code];
}

describe('a destination with as many calls as it may have', () => {
  it('503 destination_busy at once, while others are served; until one of them ends', async () => {
    const held: (() => void)[] = [];
    const slow = await startDestination((_, response) => {
      held.push(() => response.end('late'));
    });
    const quick = await startDestination();
    const slowKey = await gateway.proxy(slow.url);
    const quickKey = await gateway.proxy(quick.url);
    try {
      const first = [call(slowKey), call(slowKey)];
      await waitFor(() => held.length === 2);
      const busy = await call(slowKey);
      expect(busy.headers.get('retry-after')).toBe('1');
      expect(await codeOf(busy)).toEqual([503, 'destination_busy']);
      expect((await call(quickKey)).status).toBe(200);
      for (const release of held) release();
      expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
      const again = call(slowKey);
      await waitFor(() => held.length === 3);
      held[2]?.();
      expect((await again).status).toBe(200);
    } finally {
      await slow.close();
      await quick.close();
    }
  });

  it('a caller that leaves gives its place back', async () => {
    const silent = await startDestination(({ url }, response) => {
      if (url === '/quick') response.end();
    });
    const silentKey = await gateway.proxy(silent.url);
    try {
      const leaving = new AbortController();
      const calls = [1, 2].map(() => call(silentKey, { signal: leaving.signal }));
      await waitFor(() => silent.requests.length === 2);
      expect((await call(silentKey, {}, key, '/quick')).status).toBe(503);
      leaving.abort();
      await Promise.allSettled(calls);
      await waitFor(async () => (await call(silentKey, {}, key, '/quick')).status === 200);
    } finally {
      await silent.close();
    }
  });
});

describe('a destination that cannot be connected to', () => {
  it('is tried once a second after 10 failures; the others hear the same 502; one success closes it', async () => {
    const port = await freePort();
    const proxyKey = await gateway.proxy(`http://127.0.0.1:${port}`);
    const texts = new Set<string>();
    for (let n = 0; n < 10; n += 1) {
      const answer = await call(proxyKey);
      expect(answer.status).toBe(502);
      texts.add(await answer.text());
    }
    let connections = 0;
    const server = createTcpServer((socket) => {
      connections += 1;
      socket.on('error', () => undefined).end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    try {
      const held = await call(proxyKey);
      texts.add(await held.text());
      expect([held.status, texts.size, connections]).toEqual([502, 1, 0]);
      await waitFor(async () => (await call(proxyKey)).status === 200);
      expect((await call(proxyKey)).status).toBe(200);
      expect((await call(proxyKey)).status).toBe(200);
    } finally {
      server.close();
    }
  });
});

describe('connections', () => {
  it('are shared within a tenant, and never between two', async () => {
    const ports = new Set<number | undefined>();
    const server = await startDestination((_, response) => {
      ports.add(response.socket?.remotePort);
      response.end();
    });
    const other = crypto.randomUUID();
    const otherKey = await gateway.application(['token:use'], other);
    const own = await gateway.proxy(server.url);
    const foreign = await gateway.proxy(server.url, { tenantId: other });
    try {
      for (let n = 0; n < 3; n += 1) expect((await call(own)).status).toBe(200);
      expect(ports.size).toBe(1);
      expect((await call(foreign, {}, otherKey)).status).toBe(200);
      expect(ports.size).toBe(2);
    } finally {
      await server.close();
    }
  });
});

describe('a destination with TLS', () => {
  const authority = createAuthority();
  const client = authority.issue('DNS:client.test');
  const server = createHttpsServer(
    { ...authority.issue('IP:127.0.0.1'), ca: authority.ca, requestCert: true },
    (_, response) => response.end('for known clients'),
  );
  let url: string;

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const proxyWith = (
    tls: Partial<{ certificate: string; privateKey: string; authority: string }>,
  ) =>
    gateway.proxy(url, { tls: { certificate: null, privateKey: null, authority: null, ...tls } });
  const own = { certificate: client.cert, privateKey: client.key };

  it('is reached with the client certificate and the authority of the proxy', async () => {
    const answer = await call(await proxyWith({ ...own, authority: authority.ca }));
    expect([answer.status, await answer.text()]).toEqual([200, 'for known clients']);
  });

  it('502: without a client certificate where one is asked for', async () => {
    const answer = await call(await proxyWith({ authority: authority.ca }));
    expect(await codeOf(answer)).toEqual([502, 'destination_unreachable']);
  });

  it('502: without the authority, and with another one', async () => {
    for (const ca of [null, createAuthority().ca]) {
      const proxyKey = await proxyWith({ ...own, ...(ca === null ? {} : { authority: ca }) });
      expect(await codeOf(await call(proxyKey))).toEqual([502, 'destination_unreachable']);
    }
  });

  it('does not lend its connections to a proxy without the certificate', async () => {
    expect((await call(await proxyWith({ ...own, authority: authority.ca }))).status).toBe(200);
    expect((await call(await proxyWith({ authority: authority.ca }))).status).toBe(502);
  });
});
