import { Readable } from 'node:stream';
import { ok, startServer, type Server } from './spec-server';

let server: Server;

beforeAll(async () => {
  server = await startServer();
});

afterAll(() => server.close());

describe('An exchange', () => {
  it('tells of a small answer in order, and frees the connection before it is complete', async () => {
    server.does((socket) => socket.write(ok('hello', 'A: b\r\n')));
    const owned = await server.connect();
    const answer = await owned.ask();
    expect(answer.told).toEqual(['requestSent', 'begun', 'head', 'data', 'complete']);
    expect(answer).toMatchObject({ status: 200, body: 'hello', lasts: [true], trailers: [] });
    expect(answer.headers).toEqual(['Content-Length', '5', 'A', 'b']);
    expect(owned.events).toEqual(['free']);
    expect(owned.connection.used).toBe(true);
    owned.connection.close();
    expect(owned.events).toEqual(['free', 'closed']);
  });

  it('sends another request over a connection that is free', async () => {
    let received = '';
    server.does((socket, part) => {
      received += part;
      socket.write(ok('x'));
    });
    const owned = await server.connect();
    await owned.ask({ target: '/1' });
    await owned.ask({ target: '/2', method: 'POST', headers: ['A', 'b'], body: Buffer.from('yz') });
    expect(received).toBe(
      'GET /1 HTTP/1.1\r\nhost: example.test\r\nconnection: keep-alive\r\n\r\n' +
        'POST /2 HTTP/1.1\r\nhost: example.test\r\nconnection: keep-alive\r\nA: b\r\ncontent-length: 2\r\n\r\nyz',
    );
    owned.connection.close();
  });

  it('streams a body in chunks when its length is not known', async () => {
    let received = '';
    server.does((socket, part) => {
      received += part;
      if (received.endsWith('0\r\n\r\n')) socket.write(ok('x'));
    });
    const owned = await server.connect();
    const stream = Readable.from([Buffer.from('one'), Buffer.from('three')]);
    const answer = await owned.ask({ method: 'PUT', body: { stream, length: undefined } });
    expect(answer.told).toEqual(['bodySent', 'requestSent', 'begun', 'head', 'data', 'complete']);
    expect(received.split('\r\n\r\n', 2)[1]).toBe('3\r\none\r\n5\r\nthree\r\n0');
    expect(owned.events).toEqual(['free']);
    owned.connection.close();
  });

  it('reads chunks and trailers', async () => {
    server.does((socket) =>
      socket.write(
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n5;a=b\r\nthree\r\n0\r\nT: u\r\n\r\n',
      ),
    );
    const owned = await server.connect();
    const answer = await owned.ask();
    expect(answer).toMatchObject({ body: 'onethree', lasts: [true], trailers: ['T', 'u'] });
    expect(owned.events).toEqual(['free']);
    owned.connection.close();
  });
});
