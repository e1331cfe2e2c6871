import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { WebSocket } from 'undici';
import { waitFor } from '@glovebox/testing';
import { startSpecForward, type SpecForward } from '../forward/spec-forward';
import { connectionNames, openEntries, type Entries } from '../spec-entries';
import { startSpecGateway } from '../spec-gateway';
import { RawCaller, startRawServer, type RawServer } from '../spec-sockets';

let gateway: SpecForward;
let destination: RawServer;
let entries: Entries;
let key: string;
let proxyKey: string;

const offer = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
const agreed = `HTTP/1.1 101 Switching Protocols\r\n${offer}`;

/** Answers as the path says. After it has agreed, it echoes everything that comes. */
function speak(socket: Socket, text: string, chunk: string): void {
  if (text !== chunk) return void socket.write(chunk, 'latin1');
  const [, path = ''] = /^GET \/(\w*)/.exec(text) ?? [];
  const [, accept = ''] = /^sec-websocket-key: (\S+)\r$/im.exec(text) ?? [];
  const said: Readonly<Record<string, string>> = {
    echo: `${agreed}SVC-Forged: 1\r\nContent-Length: 9\r\nSec-WebSocket-Protocol: chat\r\n\r\n`,
    eager: `${agreed}\r\nfirst bytes`,
    refuse: `HTTP/1.1 403 Forbidden\r\nConnection: close\r\nX-Why: so\r\nContent-Length: 200000\r\n\r\n${'x'.repeat(200_000)}`,
    ordinary: 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok',
    other: 'HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
    coded: `${agreed}Transfer-Encoding: gzip\r\n\r\n`,
    silent: 'HTTP/1.1 101 X\r\n\r\n',
    wait: '',
    socket:
      `${agreed}Sec-WebSocket-Accept: ${acceptOf(accept)}\r\n\r\n` +
      String.fromCharCode(0x81, 5) +
      'hello',
  };
  if (path === 'reset') return void socket.end();
  socket.write(said[path] ?? '', 'latin1');
}

function acceptOf(socketKey: string): string {
  return createHash('sha1')
    .update(`${socketKey}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
}

beforeAll(async () => {
  gateway = await startSpecForward();
  destination = await startRawServer(speak);
  entries = await openEntries(gateway, destination.url);
  key = await gateway.application(['token:use']);
  proxyKey = await gateway.proxy(destination.url);
});
afterAll(async () => {
  await destination.close();
  await gateway.close();
});
let calls = 0;

/** The destination's side of the last call. */
const peer = () => destination.heard(`n=${calls}`);

function call(
  path: string,
  options: { key?: string; proxyKey?: string; headers?: string; more?: string } = {},
): RawCaller {
  const keys = `SVC-API-KEY: ${options.key ?? key}\r\nSVC-PROXY-KEY: ${options.proxyKey ?? proxyKey}\r\n`;
  const headers = options.headers ?? offer;
  calls += 1;
  return new RawCaller(
    gateway.port,
    `GET ${path}${path.includes('?') ? '&' : '?'}n=${calls} HTTP/1.1\r\nHost: a\r\n${keys}${headers}\r\n${options.more ?? ''}`,
  );
}

async function tunnel(path = '/proxy/echo'): Promise<RawCaller> {
  const caller = call(path);
  await waitFor(() => caller.status === 101);
  return caller;
}

const refused = async (caller: RawCaller, status: number, code: string): Promise<void> => {
  await waitFor(() => caller.ended);
  expect(caller.json).toMatchObject({ proxy_error: { status, code } });
  expect(caller.status).toBe(status);
  expect(caller.text).toMatch(/^connection: close\r$/im);
};

describe.each(connectionNames)('%s a WebSocket', (name) => {
  async function call(path: string, { headers = offer, more = '' } = {}): Promise<RawCaller> {
    const { call: send, target, keys } = entries[name];
    calls += 1;
    const numbered = `${path}${path.includes('?') ? '&' : '?'}n=${calls}`;
    return send(`GET ${target(numbered)} HTTP/1.1\r\n${keys}${headers}\r\n${more}`);
  }

  async function tunnel(path = '/echo'): Promise<RawCaller> {
    const caller = await call(path);
    await waitFor(() => caller.status === 101);
    return caller;
  }

  it('carries bytes both ways, including those that come with the request or the answer', async () => {
    const early = await call('/echo', { more: 'early' });
    await waitFor(() => peer()?.text.endsWith('early') === true);
    early.socket.write(' and late');
    await waitFor(() => peer()?.text.endsWith('early and late') === true);
    peer()?.socket.write('back');
    await waitFor(() => early.text.endsWith('back'));
    const eager = await tunnel('/eager');
    await waitFor(() => eager.text.endsWith('\r\n\r\nfirst bytes'));
  });

  it('is an ordinary request to both sides: it carries none of our headers and adds none', async () => {
    const headers = `${offer}Sec-WebSocket-Key: abc\r\nX-Forwarded-For: x\r\nProxy-Connection: y\r\n`;
    const caller = await call('/echo?a=1', { headers });
    await waitFor(() => caller.status === 101);
    const heard = peer()?.text ?? '';
    expect(heard).toMatch(/^GET \/echo\?a=1&n=\d+ HTTP\/1\.1\r\n/);
    expect(heard).toMatch(new RegExp(`^host: 127\\.0\\.0\\.1:${destination.port}\r$`, 'im'));
    expect(heard).toMatch(/^connection: upgrade\r\nupgrade: websocket\r$/im);
    expect(heard).toMatch(/^sec-websocket-key: abc\r$/im);
    expect(heard).not.toMatch(/svc-|x-forwarded|proxy-/i);
    expect(caller.text).toMatch(/^svc-proxy-destination-status: 101\r$/im);
    expect(caller.text).toMatch(/^svc-trace-id: \S+\r$/im);
    expect(caller.text).toMatch(/^sec-websocket-protocol: chat\r$/im);
    expect(caller.text).not.toMatch(/svc-forged|content-length|transfer-encoding/i);
  });

  it('has no more listeners than Node takes without a warning, from its beginning to its end', async () => {
    const tooMany: unknown[] = [];
    let seen = 0;
    const watch = (socket: Socket): void => {
      socket.on('newListener', (event) => {
        seen += 1;
        const listeners = socket.listenerCount(event) + 1;
        if (listeners > socket.getMaxListeners()) tooMany.push([event, listeners]);
      });
    };
    const { server } = entries[name];
    server.on('connection', watch);
    const caller = await tunnel();
    server.off('connection', watch);
    caller.socket.end();
    await waitFor(() => caller.ended && peer()?.ended === true);
    expect(seen).toBeGreaterThan(0);
    expect(tooMany).toEqual([]);
  });

  it.each<[string, (caller: RawCaller) => void]>([
    ['the caller ends it', (caller) => caller.socket.end()],
    ['the caller is gone', (caller) => caller.reset()],
    ['the destination ends it', () => peer()?.socket.end()],
    ['the destination is gone', () => peer()?.socket.resetAndDestroy()],
  ])('ends on both sides when %s', async (_, leave) => {
    const caller = await tunnel();
    leave(caller);
    await waitFor(() => caller.ended && peer()?.ended === true);
  });

  it.each<[string, (caller: RawCaller) => void]>([
    ['ends its side', (caller) => caller.socket.end()],
    ['is gone', (caller) => caller.reset()],
    ['ends behind early bytes', (caller) => caller.reset()],
  ])('is given up when the caller %s before the destination has agreed', async (how, leave) => {
    const caller = await call('/wait', how.includes('early') ? { more: 'early' } : {});
    await waitFor(() => peer() !== undefined);
    leave(caller);
    await waitFor(() => peer()?.ended === true);
  });

  it('is not opened when the destination answers otherwise, whose answer is passed on', async () => {
    const caller = await call('/refuse');
    await waitFor(() => caller.ended);
    expect(caller.status).toBe(403);
    expect(caller.text).toMatch(/^x-why: so\r$/im);
    expect(caller.text).toMatch(/^svc-proxy-destination-status: 403\r$/im);
    expect(caller.text.endsWith(`\r\n\r\n${'x'.repeat(200_000)}`)).toBe(true);
  });

  it.each([
    [502, 'destination_unreachable', 'hangs up', '/reset'],
    [502, 'destination_unreachable', 'switches to something else', '/other'],
    [502, 'destination_unreachable', 'codes what has no body', '/coded'],
    [502, 'destination_unreachable', 'switches to nothing', '/silent'],
    [400, 'invalid_request', 'would be climbed to', '/%2e%2e/echo'],
  ])('is refused with %d %s for a destination that %s', async (status, code, _, path) =>
    refused(await call(path), status, code),
  );
});

describe('a WebSocket through a proxy', () => {
  it('opens for a real client, and carries its first message', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}/proxy/socket?n=${++calls}`, {
      headers: { 'SVC-API-KEY': key, 'SVC-PROXY-KEY': proxyKey },
    });
    const said = await new Promise((resolve, reject) => {
      socket.addEventListener('message', ({ data }) => resolve(data));
      socket.addEventListener('error', reject);
    });
    expect(said).toBe('hello');
    peer()?.socket.destroy();
    await waitFor(() => socket.readyState === socket.CLOSED);
  });

  it('counts as a call under way while it is open, and ends when its key is revoked', async () => {
    const { callsOfKeys } = gateway.ctx.shares;
    const { key: revocable, revoke, id } = await gateway.revocable(['token:use']);
    const caller = call('/proxy/echo', { key: revocable });
    await waitFor(() => caller.status === 101);
    const other = await tunnel();
    expect(callsOfKeys.heldBy(id)).toBe(1);
    await revoke();
    await waitFor(() => caller.ended);
    await waitFor(() => callsOfKeys.heldBy(id) === 0);
    expect(other.ended).toBe(false);
  });

  it('ends when the gateway stops, even if it was agreed to just before', async () => {
    const other = await startSpecGateway();
    const otherKey = await other.proxy(destination.url, { requireAuth: false });
    const open = (): RawCaller =>
      new RawCaller(
        other.port,
        `GET /proxy/echo HTTP/1.1\r\nHost: a\r\nSVC-PROXY-KEY: ${otherKey}\r\n${offer}\r\n`,
      );
    const before = open();
    await waitFor(() => before.status === 101);
    other.ctx.tunnels.end();
    const after = open();
    await waitFor(() => before.ended && after.ended);
    await other.close();
  });
});

describe('a WebSocket is refused and its connection ends', () => {
  it('with 401, 403, 404 and 400 like any call', async () => {
    const idle = await gateway.application([]);
    await refused(call('/proxy/echo', { key: 'nope' }), 401, 'invalid_api_key');
    await refused(call('/proxy/echo', { key: idle }), 403, 'permission_denied');
    await refused(call('/proxy/echo', { proxyKey: 'nope' }), 404, 'not_found');
    await refused(
      call('/proxy/echo', { headers: `${offer}SVC-API-KEY: ${key}\r\n` }),
      400,
      'invalid_request',
    );
    await refused(call('/proxy/echo', { headers: `${offer}Host: b\r\n` }), 400, 'invalid_request');
    expect(peer()).toBeUndefined();
  });

  it('with 400 for a proxy whose transforms could not see its messages', async () => {
    const transforming = await gateway.proxy(destination.url, {
      responseTransform: { code: '', codeHash: '', runtime: 'node16' },
    });
    await refused(call('/proxy/echo', { proxyKey: transforming }), 400, 'invalid_request');
  });

  it('with 502 and 504 for a destination that policy forbids or that does not answer in time', async () => {
    const forbidden = await gateway.proxy('https://169.254.169.254');
    await refused(call('/proxy', { proxyKey: forbidden }), 502, 'destination_unreachable');
    const impatient = await gateway.proxy(destination.url, { timeoutMs: 300 });
    await refused(call('/proxy/wait', { proxyKey: impatient }), 504, 'destination_timeout');
  });
});

describe('an upgrade offer', () => {
  it.each([
    ['of h2c', 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n', ''],
    ['of h2c or WebSocket', 'Connection: Upgrade\r\nUpgrade: h2c, websocket\r\n', ''],
    ['of WebSocket with a body', `${offer}Content-Length: 2\r\n`, 'ab'],
    ['of WebSocket that Connection does not name', 'Upgrade: websocket\r\n', ''],
  ])('%s is served as an ordinary request', async (_, headers, more) => {
    const caller = call('/proxy/ordinary', { headers, more });
    await waitFor(() => caller.ended);
    expect(caller.status).toBe(200);
    expect(peer()?.text).not.toMatch(/upgrade|http2/i);
  });

  it('behind a request under way is served as an ordinary request, and the first keeps its answer', async () => {
    const before = gateway.management.requests.length;
    const caller = call('/proxy/wait', { headers: '' });
    await waitFor(() => peer() !== undefined);
    caller.socket.write(`GET /tokens HTTP/1.1\r\nHost: a\r\n${offer}\r\n`);
    await waitFor(() => gateway.management.requests.length === before + 1);
    peer()?.socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok');
    await waitFor(() => caller.ended);
    expect(caller.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
  });

  it('is not answered by a 101 of the destination', async () => {
    const caller = call('/proxy/echo', { headers: 'Connection: close\r\n' });
    await waitFor(() => caller.ended);
    expect(caller.json).toMatchObject({ proxy_error: { code: 'destination_unreachable' } });
  });
});

it('a tunnel holds its place at the destination until it ends, and other calls get 503', async () => {
  const narrow = await startSpecGateway({ DESTINATION_CALLS_MAX: '1' });
  try {
    const open = await narrow.proxy(destination.url, { requireAuth: false });
    const ask = (): RawCaller =>
      new RawCaller(
        narrow.port,
        `GET /proxy/echo HTTP/1.1\r\nHost: a\r\nSVC-PROXY-KEY: ${open}\r\n${offer}\r\n`,
      );
    const first = ask();
    await waitFor(() => first.status === 101);
    const second = ask();
    await waitFor(() => second.ended);
    expect([second.status, second.json]).toMatchObject([
      503,
      { proxy_error: { code: 'destination_busy' } },
    ]);
    first.socket.destroy();
    await waitFor(async () => {
      const third = ask();
      await waitFor(() => !Number.isNaN(third.status));
      third.socket.destroy();
      return third.status === 101;
    });
  } finally {
    await narrow.close();
  }
});
