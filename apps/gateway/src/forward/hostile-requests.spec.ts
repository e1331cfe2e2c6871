import { connect } from 'node:net';
import { startDestination, waitFor, type Destination } from '@glovebox/testing';
import {
  matching,
  openPlainTunnelTo,
  openTunnelTo,
  startSpecForward,
  startTlsDestination,
  TunnelClient,
  type SpecForward,
  type TlsDestination,
} from './spec-forward';

let spec: SpecForward;
let plain: Destination;
let secure: TlsDestination;
let key: string;

beforeAll(async () => {
  spec = await startSpecForward();
  [plain, secure] = await Promise.all([startDestination(), startTlsDestination()]);
  key = await spec.application(['token:use']);
  await spec.proxy(plain.url, matching([`http://${plain.address}`]));
  await spec.proxy('https://elsewhere.example', {
    ...matching([secure.address]),
    ...{ forwardTo: 'request', tls: secure.tls },
  });
});
afterAll(async () => {
  await spec.close();
  await Promise.all([plain.close(), secure.close()]);
});

/** How a client of each entry writes the beginning of a request, and what has heard it. */
const entries = {
  'with a whole URL': {
    open: async () => new TunnelClient(connect(spec.forwardPort, '127.0.0.1')),
    host: () => plain.address,
    target: (path: string) => `http://${plain.address}${path}`,
    credentials: () => `Proxy-Authorization: Bearer ${key}\r\n`,
    heard: () => plain.requests.map(({ url }) => url),
  },
  'in a tunnel': {
    open: () => openTunnelTo(spec, secure.address, key),
    host: () => secure.address,
    target: (path: string) => path,
    credentials: () => '',
    heard: () => secure.requests.map(({ url }) => url),
  },
  'in a tunnel without TLS': {
    open: () => openPlainTunnelTo(spec, plain.address, key),
    host: () => plain.address,
    target: (path: string) => path,
    credentials: () => '',
    heard: () => plain.requests.map(({ url }) => url),
  },
};

describe.each(Object.entries(entries))('a request %s', (_, entry) => {
  const head = (method: string, path: string, ...lines: string[]): string =>
    `${method} ${entry.target(path)} HTTP/1.1\r\n${entry.credentials()}` +
    lines.map((line) => `${line}\r\n`).join('');
  const host = (): string => `Host: ${entry.host()}`;

  it.each([
    ['two Host headers', 400, () => `${head('GET', '/bad', host(), host())}\r\n`],
    [
      'two lengths',
      400,
      () => `${head('POST', '/bad', host(), 'Content-Length: 1', 'Content-Length: 2')}\r\nx`,
    ],
    [
      'an empty Transfer-Encoding beside a length',
      400,
      () => `${head('POST', '/bad', host(), 'Transfer-Encoding: ', 'Content-Length: 3')}\r\nabc`,
    ],
    [
      'a transfer encoding beside chunked',
      400,
      () => `${head('POST', '/bad', host(), 'Transfer-Encoding: gzip, chunked')}\r\n0\r\n\r\n`,
    ],
    [
      'two types of content',
      400,
      () => `${head('GET', '/bad', host(), 'Content-Type: a/b', 'Content-Type: c/d')}\r\n`,
    ],
    ['a method of its own', 405, () => `${head('PROPFIND', '/bad', host())}\r\n`],
    [
      'too many headers',
      431,
      () => `${head('GET', '/bad', host(), 'X: '.padEnd(40_000, 'x'))}\r\n`,
    ],
  ])('with %s is refused, and nothing behind it is served', async (_name, status, bytes) => {
    const client = await entry.open();
    client.socket.write(bytes() + head('GET', '/smuggled', host()) + '\r\n', 'latin1');
    await waitFor(() => client.statuses.length > 0 || client.ended);
    await client.done();
    expect(client.statuses).toEqual([status]);
    expect(entry.heard()).not.toContain('/bad');
    expect(entry.heard()).not.toContain('/smuggled');
  });

  it.each(['/a/../b', '/a/%2e%2e/b', '/a\\b', '/..;/b'])(
    'for the path %s, which climbs, is refused',
    async (path) => {
      const client = await entry.open();
      client.socket.write(`${head('GET', path, host(), 'Connection: close')}\r\n`);
      await client.done();
      expect(client.statuses).toEqual([400]);
    },
  );

  it('gives the destination no header of ours, and none of one connection', async () => {
    const client = await entry.open();
    const own = [`SVC-API-KEY: ${key}`, 'Proxy-Connection: keep-alive', 'X-Forwarded-For: 1.1.1.1'];
    const lines = [host(), ...own, 'X-Hop: 1', 'Connection: close, X-Hop', 'Authorization: theirs'];
    client.socket.write(`${head('GET', '/headers', ...lines)}\r\n`);
    await client.done();
    expect(client.statuses).toEqual([200]);
    const requests: readonly { url: string; headers: object }[] = [
      ...plain.requests,
      ...secure.requests,
    ];
    const last = requests.filter(({ url }) => url === '/headers').at(-1);
    expect(JSON.stringify(last?.headers)).not.toMatch(/svc-|proxy-|forwarded|x-hop/);
    expect(last?.headers).toMatchObject({ authorization: 'theirs' });
  });

  it('that has been here before is refused', async () => {
    const client = await entry.open();
    const loop = `CDN-Loop: ${spec.ctx.hopMarker}`;
    client.socket.write(`${head('GET', '/loop', host(), loop, 'Connection: close')}\r\n`);
    expect(await client.done()).toContain('loop_detected');
  });
});
