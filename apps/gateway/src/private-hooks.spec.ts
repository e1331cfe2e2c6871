import { once } from 'node:events';
import http, { IncomingMessage, ServerResponse, type Server } from 'node:http';
import {
  connect,
  createServer,
  Server as NetServer,
  type AddressInfo,
  type Socket,
} from 'node:net';
import Redis from 'ioredis';
import { waitFor } from '@glovebox/testing';

/**
 * What Node and ioredis do not document and we rely on. A test that fails here names the hook and
 * the file that uses it.
 */
const servers: Server[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

type Serve = (req: IncomingMessage, res: ServerResponse) => void;

/** Serves what is sent, and returns the caller's side with all that it has heard. */
async function send(text: string, serve: Serve, classes: object = {}) {
  const server = http.createServer(classes, serve);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const caller = connect((server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(caller);
  let heard = '';
  caller.on('data', (chunk) => (heard += String(chunk)));
  caller.on('error', () => undefined);
  caller.write(text);
  return { server, caller, heard: () => heard };
}

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

it('ServerResponse._writeRaw gets head, body and end of a message, for endAtOnce() of apps/gateway/src/connection/caller-response.ts', async () => {
  const pieces: string[] = [];
  class Response extends ServerResponse {
    protected _writeRaw(data: string | Buffer, encoding?: string, done?: unknown): boolean {
      pieces.push(String(data));
      const { _writeRaw } = ServerResponse.prototype as unknown as {
        _writeRaw(...parts: unknown[]): boolean;
      };
      return _writeRaw.call(this, data, encoding, done);
    }
  }
  const { heard } = await send(get, (_, res) => res.end('text', 'latin1'), {
    ServerResponse: Response,
  });
  await waitFor(() => heard().endsWith('text'));
  expect(pieces.join('')).toBe(heard());
});

it('IncomingMessage.push gets every part of a body and null behind it, for giveBodyTo() of apps/gateway/src/connection/caller-request.ts', async () => {
  const parts: (string | null)[] = [];
  class Request extends IncomingMessage {
    override push(chunk: Buffer | null): boolean {
      parts.push(chunk === null ? null : chunk.toString());
      return super.push(chunk);
    }
  }
  const text = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody';
  await send(text, (req) => req.resume(), { IncomingMessage: Request });
  await waitFor(() => parts.includes(null));
  expect(parts).toEqual(['body', null]);
});

it('IncomingMessage.upgrade is set by the parser and asked before a request is served, for apps/gateway/src/connection/caller-request.ts', async () => {
  const offers: unknown[] = [];
  class Request extends IncomingMessage {
    get upgrade(): boolean {
      return false;
    }
    set upgrade(offered: boolean | null) {
      offers.push(offered);
    }
  }
  const text = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n';
  const { server, heard } = await send(text, (_, res) => res.end('as usual'), {
    IncomingMessage: Request,
  });
  server.on('upgrade', (_, socket) => socket.destroy());
  await waitFor(() => heard().endsWith('as usual'));
  expect(offers).toContain(true);
});

it('ServerResponse.shouldKeepAlive decides whether the connection ends, for apps/gateway/src/connection/caller-connection.ts and libs/service-host/src/close-server.ts', async () => {
  const { caller, heard } = await send(get, (_, res) => {
    expect(res.shouldKeepAlive).toBe(true);
    res.shouldKeepAlive = false;
    res.end();
  });
  await once(caller, 'end');
  expect(heard()).toContain('\r\nConnection: close\r\n');
});

it('Socket.destroySoon is called behind an answer that ends its connection, for libs/wire/src/linger.ts', async () => {
  let calls = 0;
  const { caller } = await send(get, (req, res) => {
    req.socket.destroySoon = () => {
      calls += 1;
      req.socket.end();
    };
    res.shouldKeepAlive = false;
    res.end();
  });
  await once(caller, 'end');
  expect(calls).toBe(1);
});

it('A response whose turn never came has no socket and emits no end, or one behind that of its connection (Node 24), for apps/gateway/src/connection/caller-connection.ts', async () => {
  const responses: ServerResponse[] = [];
  let closed = 0;
  const { caller } = await send(get + get, (_, res) => {
    responses.push(res);
    if (responses.length === 2) res.once('close', () => (closed += 1));
  });
  await waitFor(() => responses.length === 2);
  const [first, second] = responses as [ServerResponse, ServerResponse];
  expect([first.socket === null, second.socket]).toEqual([false, null]);
  // As there, behind the listener of Node.
  const atEnd = new Promise((resolve) => first.socket?.once('close', () => resolve(closed)));
  caller.destroy();
  expect(await atEnd).toBe(0);
  await new Promise((resolve) => setImmediate(resolve));
  expect([closed, second.destroyed]).toEqual(second.destroyed ? [1, true] : [0, false]);
  // The field is set by hand there.
  second.destroyed = true;
  expect(second.destroyed).toBe(true);
});

it('ServerResponse.assignSocket serves a socket that was handed over, for apps/gateway/src/connection/upgrade.ts', async () => {
  const text = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n';
  const { server, heard } = await send(text, () => undefined);
  server.on('upgrade', (req, socket) => {
    sockets.push(socket as Socket);
    const res = new ServerResponse(req);
    res.assignSocket(socket as Socket);
    res.end('assigned');
  });
  await waitFor(() => heard().endsWith('assigned'));
});

it('Server.httpAllowHalfOpen keeps our side open until the last answer has left, and Socket._httpMessage is the answer whose turn it is, for apps/gateway/src/connection/half-closed.ts', async () => {
  const responses: ServerResponse[] = [];
  const { server, caller, heard } = await send('', (_, res) => void responses.push(res));
  const accepted = once(server, 'connection') as Promise<[Socket & { _httpMessage?: unknown }]>;
  Object.assign(server, { httpAllowHalfOpen: true });
  const [socket] = await accepted;
  caller.end(get + get);
  await once(socket, 'end');
  const [first, second] = responses as [ServerResponse, ServerResponse];
  expect(socket._httpMessage).toBe(first);
  first.end('first');
  await waitFor(() => heard().endsWith('first'));
  expect(socket._httpMessage).toBe(second);
  second.end('second');
  await once(caller, 'end');
  expect(heard()).toMatch(/\r\n\r\nsecond$/);
});

it('ServerResponse._storeHeader gets the first line of an answer, for apps/gateway/src/connection/caller-response.ts', async () => {
  const lines: string[] = [];
  class Response extends ServerResponse {
    protected _storeHeader(firstLine: string, headers?: unknown): void {
      lines.push(firstLine);
      const { _storeHeader } = ServerResponse.prototype as unknown as {
        _storeHeader(...parts: unknown[]): void;
      };
      _storeHeader.call(this, firstLine, headers);
    }
  }
  const { heard } = await send(
    get,
    (_, res) => res.writeHead(404, ['Content-Length', '4']).end('text'),
    {
      ServerResponse: Response,
    },
  );
  await waitFor(() => heard().endsWith('text'));
  expect(lines).toEqual(['HTTP/1.1 404 Not Found\r\n']);
  expect(heard()).toMatch(/^HTTP\/1\.1 404 Not Found\r\nContent-Length: 4\r\n/);
});

it('net.Server.close leaves the connections of an HTTP server open, for libs/service-host/src/close-server.ts', async () => {
  const { server, caller, heard } = await send(get, (_, res) => res.end('answer'));
  await waitFor(() => heard().endsWith('answer'));
  const closed = once(server, 'close');
  NetServer.prototype.close.call(server);
  caller.write(get);
  await waitFor(() => heard().split('answer').length === 3);
  server.closeIdleConnections();
  await closed;
});

it('Redis.socketTimeoutTimer is the timer of an unanswered command, for libs/store-urls/src/connect-redis.ts', async () => {
  const silent = createServer((socket) => void sockets.push(socket));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const redis = new Redis({
    host: '127.0.0.1',
    port,
    socketTimeout: 60_000,
    enableReadyCheck: false,
  });
  const command = redis.ping().catch(() => undefined);
  await waitFor(() => redis['socketTimeoutTimer'] !== undefined);
  clearTimeout(redis['socketTimeoutTimer']);
  redis.disconnect();
  await command;
  silent.close();
});
