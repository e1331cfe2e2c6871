import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { createAuthority, waitFor } from '@glovebox/testing';
import { egressOf } from './__fixtures__/egress';
import { startHttpsServer, startTcpServer } from './__fixtures__/servers';
import type { EgressSettings } from './policy';

// 127.0.0.7 stands for a public address, because no spec can reach the internet.
jest.mock('./address-table', () => {
  const actual = jest.requireActual<typeof import('./address-table')>('./address-table');
  const isPublic = (address: string) => address === '127.0.0.7' || actual.isPublic(address);
  return { ...actual, isPublic };
});

const closers: Array<() => Promise<void> | void> = [];
afterEach(async () => {
  while (closers.length > 0) await closers.pop()?.();
});

async function connected(settings: Partial<EgressSettings> = {}) {
  const chunks: Buffer[] = [];
  const server = await startTcpServer((socket) => {
    socket.on('data', (chunk) => chunks.push(chunk));
  }, '127.0.0.7');
  closers.push(server.close);
  const socket = await egressOf(settings).dial({
    host: '127.0.0.7',
    port: server.port,
    tls: false,
  });
  const errors: unknown[] = [];
  socket.on('error', (error) => errors.push(error));
  return { socket, errors, server, received: () => Buffer.concat(chunks) };
}

const clientHello = Buffer.from([0x16, 0x03, 0x01, 0x00, 0x05, 1, 2, 3, 4, 5]);

describe('a connection whose bytes are the caller’s', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['a request', (socket) => socket.write('GET / HTTP/1.1\r\n\r\n')],
    ['a request as bytes', (socket) => socket.write(Buffer.from('GET / HTTP/1.1\r\n\r\n'))],
    [
      'a request in pieces',
      (socket) => ['G', 'ET / HTTP/1.1\r\n'].map((part) => socket.write(part)),
    ],
    ['an empty write first', (socket) => ['', 'GET /'].map((part) => socket.write(part))],
    ['a request at once', (socket) => socket.end('GET / HTTP/1.1\r\n\r\n')],
    ['a request in hex', (socket) => socket.write('474554', 'hex')],
    [
      'a corked request',
      (socket) => {
        socket.cork();
        socket.write('GET ');
        socket.write('/');
        socket.uncork();
      },
    ],
  ])('does not carry %s to a public address', async (_what, send) => {
    const { socket, errors, server, received } = await connected();
    send(socket);
    await waitFor(() => errors.length > 0);
    expect(errors).toEqual([expect.objectContaining({ reason: 'plain_http' })]);
    await waitFor(() => server.connections.every(({ destroyed }) => destroyed));
    expect(received()).toHaveLength(0);
  });

  it('carries TLS, and checks only its first byte', async () => {
    const { socket, received } = await connected();
    socket.write(clientHello.subarray(0, 1));
    socket.write(clientHello.subarray(1));
    socket.write('whatever TLS carries');
    await waitFor(() => received().length === clientHello.length + 20);
    expect(Object.keys(socket)).not.toContain('_write');
    socket.destroy();
  });

  it('carries the first bytes of TLS when they are corked', async () => {
    const { socket, received } = await connected();
    socket.cork();
    socket.write(clientHello.subarray(0, 3));
    socket.write(clientHello.subarray(3).toString('hex'), 'hex');
    socket.uncork();
    await waitFor(() => received().equals(clientHello));
    socket.destroy();
  });

  it('carries a real handshake that is piped from elsewhere, as in the runner', async () => {
    const authority = createAuthority();
    const server = await startHttpsServer(authority.issue('DNS:dest.test'), () => undefined);
    closers.push(server.close);
    const relay = await startTcpServer((inside) => {
      inside.once('data', (first) => {
        const outside = connect(server.port, '127.0.0.1');
        inside.pipe(outside).pipe(inside);
        outside.write(first);
      });
    }, '127.0.0.7');
    closers.push(relay.close);
    const outgoing = await egressOf({}).dial({ host: '127.0.0.7', port: relay.port, tls: false });
    const broker = await startTcpServer((inside) => inside.pipe(outgoing).pipe(inside));
    closers.push(broker.close);
    const secured = connectTls({
      port: broker.port,
      host: '127.0.0.1',
      servername: 'dest.test',
      ca: authority.ca,
    });
    await new Promise((resolve, reject) =>
      secured.once('secureConnect', resolve).once('error', reject),
    );
    expect(secured.authorized).toBe(true);
    secured.destroy();
  });

  it('carries anything with EGRESS_ALLOW_HTTP, or to an address that EGRESS_ALLOW lists', async () => {
    for (const settings of [{ allowHttp: true }, { allow: ['127.0.0.7:*'] }]) {
      const { socket, received } = await connected(settings);
      socket.write('GET / HTTP/1.1\r\n\r\n');
      await waitFor(() => received().length === 18);
      socket.destroy();
    }
  });
});
