import { createServer as createHttpsServer } from 'node:https';
import { once } from 'node:events';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { generateProxyKey } from '@glovebox/access';
import type { AnswerReceiver } from '@glovebox/http1';
import { createAuthority, freePort, startDestination, waitFor } from '@glovebox/testing';
import { Shares } from '@glovebox/shares';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';
import { startRawServer } from '../spec-sockets';
import type { ConnectionWaiter, Destination } from './destination';
import { Destinations } from './destinations';

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

describe('a destination with its maximum of calls', () => {
  it('answers 503 destination_busy at once until a call ends, while other destinations are served', async () => {
    const held: (() => void)[] = [];
    const slow = await startDestination((_, response) => {
      held.push(() => response.end('late'));
    });
    const quick = await startDestination();
    const [slowKey = '', quickKey = ''] = await Promise.all(
      [slow, quick].map(({ url }) => gateway.proxy(url)),
    );
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

  it('gets a place back when a caller leaves', async () => {
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
  it('is tried once a second after 10 failures, other calls get 502 at once, and one success ends this', async () => {
    const port = await freePort();
    const proxyKey = await gateway.proxy(`http://127.0.0.1:${port}`);
    const codes = new Set<string>();
    const codeOf = async (answer: Response): Promise<string> =>
      ((await answer.json()) as { proxy_error: { code: string } }).proxy_error.code;
    for (let n = 0; n < 10; n += 1) {
      const answer = await call(proxyKey);
      expect(answer.status).toBe(502);
      codes.add(await codeOf(answer));
    }
    let connections = 0;
    const server = createTcpServer((socket) => {
      connections += 1;
      socket.on('error', () => undefined).resume();
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    try {
      const held = await call(proxyKey);
      codes.add(await codeOf(held));
      expect([held.status, codes.size, connections]).toEqual([502, 1, 0]);
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
    const [otherKey, own, foreign] = await Promise.all([
      gateway.application(['token:use'], other),
      gateway.proxy(server.url),
      gateway.proxy(server.url, { tenantId: other }),
    ]);
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

describe('unused destinations', () => {
  it('are closed with their connections, while used ones stay', async () => {
    const hours = 'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=60\r\nContent-Length: 0\r\n\r\n';
    const server = await startRawServer((socket) => socket.write(hours));
    const destinations = new Destinations(gateway.ctx.egress, gateway.ctx.follower, {
      callsMax: 2,
      idleMs: 50,
      places: new Shares({ places: 8 }),
      connections: new Shares({ places: 8 }),
    });
    try {
      const used = destinations.find('a', server.url, null);
      used.enter();
      const idle = destinations.find('b', server.url, null);
      await callOver(idle);
      expect(server.connections[0]?.ended).toBe(false);
      await waitFor(() => server.connections[0]?.ended === true && destinations.size === 1);
      expect(destinations.find('a', server.url, null)).toBe(used);
      used.leave();
      await waitFor(() => destinations.size === 0);
      await callOver(destinations.find('b', server.url, null));
      expect(server.connections).toHaveLength(2);
    } finally {
      await destinations.close();
      await server.close();
    }
  });
});

describe('a destination with TLS', () => {
  const authority = createAuthority();
  const [client, successor] = [authority.issue('DNS:a.test'), authority.issue('DNS:b.test')];
  const peers: string[] = [];
  const server = createHttpsServer(
    { ...authority.issue('IP:127.0.0.1'), ca: authority.ca, requestCert: true },
    ({ socket }, response) => {
      peers.push((socket as TLSSocket).getPeerCertificate().subjectaltname ?? '');
      response.end('for known clients');
    },
  );
  const own = { certificate: client.cert, privateKey: client.key };
  const id = crypto.randomUUID();
  const proxyKey = generateProxyKey();
  let url: string;
  let keys: Record<'known' | 'anonymous' | 'untrusting' | 'mistaken', string>;

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const [known, anonymous, untrusting, mistaken] = await Promise.all([
      proxyWith({ ...own, authority: authority.ca }),
      proxyWith({ authority: authority.ca }),
      proxyWith(own),
      proxyWith({ ...own, authority: createAuthority().ca }),
    ]);
    keys = { known, anonymous, untrusting, mistaken };
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const proxyWith = (
    tls: Partial<{ certificate: string; privateKey: string; authority: string }>,
    changes: object = {},
  ) =>
    gateway.proxy(url, {
      tls: { certificate: null, privateKey: null, authority: null, ...tls },
      ...changes,
    });

  it('is reached with the client certificate and the authority of the proxy', async () => {
    const answer = await call(keys.known);
    expect([answer.status, await answer.text()]).toEqual([200, 'for known clients']);
  });

  it('answers 502 without a client certificate if it asks for one', async () => {
    expect(await codeOf(await call(keys.anonymous))).toEqual([502, 'destination_unreachable']);
  });

  it('answers 502 without the authority of the proxy, and with another one', async () => {
    for (const proxyKey of [keys.untrusting, keys.mistaken]) {
      expect(await codeOf(await call(proxyKey))).toEqual([502, 'destination_unreachable']);
    }
  });

  it('does not lend its connections to a proxy without the certificate', async () => {
    expect((await call(keys.known)).status).toBe(200);
    expect((await call(keys.anonymous)).status).toBe(502);
  });

  it('gets the new certificate after the old one was replaced', async () => {
    peers.length = 0;
    const same = { id, keyHash: gateway.ctx.keyHash(proxyKey) };
    for (const { cert, key: privateKey } of [client, successor]) {
      await proxyWith({ certificate: cert, privateKey, authority: authority.ca }, same);
      for (const _ of [1, 2]) expect((await call(proxyKey)).status).toBe(200);
    }
    expect(peers).toEqual(['DNS:a.test', 'DNS:a.test', 'DNS:b.test', 'DNS:b.test']);
  });
});

describe('connections that a tenant opens all at once', () => {
  const many = 100;
  const roomy = () => ({
    callsMax: many,
    places: new Shares({ places: 1_000 }),
    connections: new Shares({ places: 1_000 }),
  });

  it('are opened a few in each turn of the event loop, with those of other tenants in between', async () => {
    const order: string[] = [];
    const server = await startRawServer((_, text) => {
      order.push(/^GET (\S+)/.exec(text)?.[1] ?? '');
      // Answers only when all calls have come, so that each has its own connection.
      if (order.length > many) for (const open of server.connections) open.socket.write(noContent);
    });
    const destinations = new Destinations(gateway.ctx.egress, gateway.ctx.follower, roomy());
    try {
      const calls = Array.from({ length: many }, () =>
        callOver(destinations.find('a', server.url, null), '/many'),
      );
      await Promise.all([...calls, callOver(destinations.find('b', server.url, null), '/one')]);
      expect(server.connections).toHaveLength(many + 1);
      expect(order.indexOf('/one')).toBeLessThan(many / 4);
    } finally {
      await destinations.close();
      await server.close();
    }
  });

  it('are not opened for callers that left before their turn', async () => {
    const server = await startRawServer((socket) => socket.write(noContent));
    const destinations = new Destinations(gateway.ctx.egress, gateway.ctx.follower, roomy());
    try {
      const leave: (() => void)[] = [];
      const calls = Array.from({ length: many }, () =>
        callOver(destinations.find('a', server.url, null), '/', (left) => leave.push(left)),
      );
      for (const left of leave) left();
      const settled = await Promise.allSettled(calls);
      expect(settled.filter(({ status }) => status === 'fulfilled').length).toBeLessThan(many / 4);
      expect(server.connections.length).toBeLessThan(many / 4);
      expect(destinations.openings.state).toMatchObject({ waiting: 0 });
      await callOver(destinations.find('a', server.url, null));
    } finally {
      await destinations.close();
      await server.close();
    }
  });
});

const noContent = 'HTTP/1.1 204 No Content\r\n\r\n';

function callOver(
  destination: Destination,
  path = '/',
  waits: (leave: () => void) => void = () => undefined,
): Promise<void> {
  const request = {
    method: 'GET',
    host: 'a',
    target: path,
    headers: [],
    body: null,
    upgrade: null,
  };
  const ignored = (): void => undefined;
  destination.enter();
  return new Promise<void>((resolve, reject) => {
    const call: ConnectionWaiter & AnswerReceiver = {
      connected: (connection) => connection.send(request, call),
      begun: ignored,
      informational: ignored,
      head: ignored,
      headAlone: ignored,
      data: () => true,
      complete: () => resolve(),
      upgraded: ignored,
      bodySent: ignored,
      requestSent: ignored,
      failed: reject,
    };
    destination.giveConnection(call);
    waits(() => {
      destination.withdraw(call);
      reject(new Error('left'));
    });
  }).finally(() => destination.leave());
}
