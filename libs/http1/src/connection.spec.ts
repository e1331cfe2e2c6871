import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { createAuthority, waitFor } from '@glovebox/testing';
import { AnswerFault } from './answer-fault';
import type { AnswerReceiver } from './answer-receiver';
import { RequestInvalid, type ClientRequest } from './client-request';
import { Recorder } from './spec-recorder';
import {
  ok,
  SpecConnectionOwner,
  requestOf,
  startServer,
  type Behaviour,
  type Server,
} from './spec-server';

let server: Server;

beforeAll(async () => {
  server = await startServer();
});

afterEach(() => {
  for (const socket of server.open) socket.destroy();
});

afterAll(() => server.close());

const says =
  (text: string): Behaviour =>
  (socket) =>
    socket.write(text, 'latin1');
const saysAndEnds =
  (text: string): Behaviour =>
  (socket) =>
    socket.end(text, 'latin1');

const isBroken = { name: 'AnswerFault', code: 'broken' };
const isInvalid = { name: 'AnswerFault', code: 'invalid' };

async function ask(behaviour: Behaviour, request: Partial<ClientRequest> = {}) {
  server.does(behaviour);
  const owned = await server.connect();
  return { owned, answer: await owned.ask(request) };
}

/** Makes a stream whose parts the test sends one by one. */
function source(): Readable {
  return new Readable({ read: () => undefined });
}

describe('An exchange', () => {
  it('reports a small answer in order, and frees the connection before it is complete', async () => {
    server.does(says(ok('hello', 'A: b\r\n')));
    const owned = await server.connect();
    const recorder = new Recorder({ complete: () => owned.events.push('complete') });
    const answer = await owned.ask({}, recorder);
    expect(answer.told).toEqual(['requestSent', 'begun', 'head', 'data', 'complete']);
    expect(answer).toMatchObject({ status: 200, body: 'hello', lasts: [true], trailers: [] });
    expect(answer.headers).toEqual(['Content-Length', '5', 'A', 'b']);
    expect(owned.events).toEqual(['free', 'complete']);
    owned.connection.close();
    expect(owned.events).toEqual(['free', 'complete', 'closed']);
    await waitFor(() => server.open.size === 0);
  });

  it('may begin on a connection from within the last call of the exchange before', async () => {
    let received = '';
    server.does((socket, part) => {
      received += part;
      socket.write(ok(part.slice(4, 6)));
    });
    const owned = await server.connect();
    const second = new Recorder();
    const first = new Recorder({
      complete: () => owned.connection.send(requestOf({ target: '/2' }), second),
    });
    expect(owned.connection.used).toBe(false);
    expect((await owned.ask({ target: '/1' }, first)).body).toBe('/1');
    expect(owned.connection.used).toBe(true);
    expect((await second.over).body).toBe('/2');
    expect(owned.events).toEqual(['free', 'free']);
    expect(received.match(/^GET/gm)).toHaveLength(2);
  });

  it('is one at a time', async () => {
    server.does(() => undefined);
    const owned = await server.connect();
    const recorder = new Recorder();
    void owned.ask({}, recorder);
    expect(() => owned.connection.send(requestOf(), new Recorder())).toThrow('not free');
    owned.connection.close();
    expect(() => owned.connection.send(requestOf(), new Recorder())).toThrow('not free');
  });

  it('reads chunks and trailers', async () => {
    const text =
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n5;a=b\r\nthree\r\n0\r\nT: u\r\n\r\n';
    const { owned, answer } = await ask(says(text));
    expect(answer).toMatchObject({ body: 'onethree', lasts: [true], trailers: ['T', 'u'] });
    expect(owned.events).toEqual(['free']);
  });

  it('sets no listener on the socket, however many there were', async () => {
    server.does((socket) => socket.write(ok('x')));
    const owned = await server.connect();
    const count = () => owned.socket.eventNames().map((name) => owned.socket.listenerCount(name));
    const before = count();
    for (let n = 0; n < 20; n += 1) {
      await owned.ask({
        method: 'POST',
        body: { stream: Readable.from([Buffer.from('x')]), length: 1 },
      });
    }
    expect(count()).toEqual(before);
  });

  it('goes over TLS', async () => {
    const authority = createAuthority();
    const tls = createTlsServer(authority.issue('DNS:example.test'), (socket) => {
      socket.on('data', (part) => socket.write(ok(String(part.length))));
    });
    await once(tls.listen(0, '127.0.0.1'), 'listening');
    const { port } = tls.address() as { port: number };
    const socket = connectTls({
      port,
      host: '127.0.0.1',
      servername: 'example.test',
      ca: authority.ca,
    });
    await once(socket, 'secureConnect');
    const owned = new SpecConnectionOwner(socket);
    expect((await owned.ask()).body).toBe('62');
    const large = await owned.ask({ method: 'POST', body: Buffer.alloc(100) });
    expect(large.status).toBe(200);
    expect(owned.events).toEqual(['free', 'free']);
    owned.connection.close();
    tls.close();
    await once(tls, 'close');
  });
});

describe('A request', () => {
  /** Returns everything that the server gets. The server answers when `end` has come. */
  async function written(request: Partial<ClientRequest>, end = ''): Promise<string> {
    let received = '';
    const { owned, answer } = await ask((socket, part) => {
      received += part;
      if (received.includes('\r\n\r\n') && received.endsWith(end)) {
        socket.write('HTTP/1.1 204 No Content\r\n\r\n');
      }
    }, request);
    expect(answer.error).toBeUndefined();
    expect(owned.events).toEqual(['free']);
    return received;
  }

  it('is written with its host first and its headers as they are', async () => {
    const headers = ['X-A', 'b', 'x-a', '\xe9 \t', 'Cookie', ''];
    expect(await written({ target: '/a?b=\xe9', host: 'h:80', headers })).toBe(
      'GET /a?b=\xe9 HTTP/1.1\r\nhost: h:80\r\nconnection: keep-alive\r\n' +
        'X-A: b\r\nx-a: \xe9 \t\r\nCookie: \r\n\r\n',
    );
  });

  it.each<[string, string]>([
    ['GET', ''],
    ['HEAD', ''],
    ['DELETE', ''],
    ['OPTIONS', ''],
    ['POST', 'content-length: 0\r\n'],
    ['PUT', 'content-length: 0\r\n'],
    ['PATCH', 'content-length: 0\r\n'],
  ])(
    'with the method %s and no body has a length only where one is expected',
    async (method, line) => {
      const start = `${method} / HTTP/1.1\r\nhost: example.test\r\nconnection: keep-alive\r\n`;
      const request = { method, body: null };
      server.does(says('HTTP/1.1 204 X\r\n\r\n'));
      expect(await written(request)).toBe(`${start}${line}\r\n`);
      expect(await written({ ...request, body: Buffer.alloc(0) })).toBe(`${start}${line}\r\n`);
    },
  );

  it.each([1, 1_000, 16_383, 16_384, 300_000])(
    'carries a body of %d bytes as it is',
    async (length) => {
      const bytes = Buffer.from(Array.from({ length }, (_, n) => n % 251));
      const text = bytes.toString('latin1');
      const received = await written({ method: 'POST', body: bytes }, text);
      expect(received.slice(received.indexOf('content-length'))).toBe(
        `content-length: ${length}\r\n\r\n${text}`,
      );
    },
  );

  it.each([5, 60_000])('sends several parts of %d bytes as one body', async (length) => {
    const parts = ['a', 'b', 'c'].map((letter) => Buffer.alloc(length, letter));
    const body = Buffer.concat(parts).toString();
    const received = await written({ method: 'POST', body: parts }, body);
    expect(received.slice(received.indexOf('content-length'))).toBe(
      `content-length: ${3 * length}\r\n\r\n${body}`,
    );
  });

  it.each([5, 60_000])('streams parts of %d bytes under a length that is known', async (length) => {
    const part = Buffer.alloc(length, 'x');
    const stream = Readable.from([part, part]);
    const body = 'x'.repeat(2 * length);
    const received = await written({ method: 'PUT', body: { stream, length: 2 * length } }, body);
    expect(received.slice(received.indexOf('content-length'))).toBe(
      `content-length: ${2 * length}\r\n\r\n${body}`,
    );
  });

  it.each([5, 60_000])('streams parts of %d bytes in chunks', async (length) => {
    const part = Buffer.alloc(length, 'x');
    const stream = Readable.from([part, part]);
    const received = await written(
      { method: 'PUT', body: { stream, length: undefined } },
      '0\r\n\r\n',
    );
    const chunk = `${length.toString(16)}\r\n${'x'.repeat(length)}\r\n`;
    expect(received.slice(received.indexOf('transfer-encoding'))).toBe(
      `transfer-encoding: chunked\r\n\r\n${chunk}${chunk}0\r\n\r\n`,
    );
  });

  it('streams nothing, with a length and in chunks', async () => {
    const stream = () => Readable.from([]);
    expect(await written({ method: 'PUT', body: { stream: stream(), length: 0 } })).toMatch(
      /content-length: 0\r\n\r\n$/,
    );
    expect(
      await written({ method: 'PUT', body: { stream: stream(), length: undefined } }, '0\r\n\r\n'),
    ).toMatch(/transfer-encoding: chunked\r\n\r\n0\r\n\r\n$/);
  });

  it('reports each part of a stream, and its end', async () => {
    const stream = source();
    server.does((socket, part) => part.endsWith('0\r\n\r\n') && socket.write(ok('x')));
    const owned = await server.connect();
    const recorder = new Recorder();
    const over = owned.ask({ method: 'PUT', body: { stream, length: undefined } }, recorder);
    expect(recorder.told).toEqual([]);
    stream.push('one');
    await waitFor(() => recorder.told.includes('bodySent'));
    expect(recorder.told).toEqual(['bodySent']);
    stream.push(null);
    await over;
    expect(recorder.told).toEqual(['bodySent', 'requestSent', 'begun', 'head', 'data', 'complete']);
  });

  it('takes no more of a stream than the server does', async () => {
    let isStuck = true;
    let bytes = 0;
    const part = Buffer.alloc(64 * 1024);
    const parts = 400;
    const stream = Readable.from(
      (function* () {
        for (let n = 0; n < parts; n += 1) {
          bytes += part.length;
          yield part;
        }
      })(),
    );
    let stuck: Socket | undefined;
    let received = 0;
    server.does((socket, text) => {
      received += text.length;
      if (isStuck) stuck = socket.pause();
      if (received > parts * part.length) socket.write(ok('x'));
    });
    const owned = await server.connect();
    const over = owned.ask({ method: 'PUT', body: { stream, length: parts * part.length } });
    await waitFor(() => owned.socket.writableNeedDrain && stream.isPaused());
    expect(bytes).toBeLessThan((parts * part.length) / 2);
    isStuck = false;
    stuck?.resume();
    expect((await over).body).toBe('x');
    expect(bytes).toBe(parts * part.length);
  });

  it.each<[string, number, RegExp]>([
    ['longer', 5, /longer/],
    ['shorter', 7, /shorter/],
  ])('whose stream is %s than it said ends with the connection', async (_, length, message) => {
    let received = '';
    server.does((_socket, part) => (received += part));
    const owned = await server.connect();
    const stream = Readable.from([Buffer.from('one'), Buffer.from('two')]);
    const { error } = await owned.ask({ method: 'PUT', body: { stream, length } });
    expect(error).toBeInstanceOf(RequestInvalid);
    expect(error?.message).toMatch(message);
    expect(owned.events).toEqual(['closed']);
    await waitFor(() => server.open.size === 0);
    expect(received.split('\r\n\r\n')[1]?.length ?? 0).toBeLessThanOrEqual(6);
    expect(stream.listenerCount('data')).toBe(0);
  });

  it('whose stream fails ends with that error', async () => {
    const stream = source();
    server.does(() => undefined);
    const owned = await server.connect();
    const over = owned.ask({ method: 'PUT', body: { stream, length: 6 } });
    stream.push('one');
    const error = new Error('no more');
    stream.destroy(error);
    expect((await over).error).toBe(error);
    expect(owned.events).toEqual(['closed']);
  });

  it('whose stream is destroyed without an error ends', async () => {
    const stream = source();
    server.does(() => undefined);
    const owned = await server.connect();
    const over = owned.ask({ method: 'PUT', body: { stream, length: undefined } });
    stream.destroy();
    expect((await over).error?.message).toMatch('before its end');
    expect(owned.events).toEqual(['closed']);
  });

  it.each<[string, Partial<ClientRequest>]>([
    ['no method', { method: '' }],
    ['a method that is no token', { method: 'GE T' }],
    ['a method with a line', { method: 'GET / HTTP/1.1\r\nA: b\r\n\r\nGET' }],
    ['CONNECT', { method: 'CONNECT' }],
    ['no target', { target: '' }],
    ['a target that is no path', { target: 'http://other.test/' }],
    ['a blank in its target', { target: '/a b' }],
    ['a tab in its target', { target: '/a\tb' }],
    ['a line in its target', { target: '/ HTTP/1.1\r\nA: b\r\n\r\n' }],
    ['NUL in its target', { target: '/\0' }],
    ['DEL in its target', { target: '/\x7f' }],
    ['a character of two bytes in its target', { target: '/\u0100' }],
    ['CR of a larger character in its target', { target: '/\u010d\u010a' }],
    ['no host', { host: '' }],
    ['a blank in its host', { host: 'a b' }],
    ['a line in its host', { host: 'a\r\nA: b' }],
    ['a header without value', { headers: ['A'] }],
    ['a header without name', { headers: ['', 'b'] }],
    ['a blank in the name of a header', { headers: ['A ', 'b'] }],
    ['a colon in the name of a header', { headers: ['A: b\r\nC', 'd'] }],
    ['a line in the value of a header', { headers: ['A', 'b\r\nC: d'] }],
    ['LF in the value of a header', { headers: ['A', 'b\nC: d'] }],
    ['CR in the value of a header', { headers: ['A', 'b\rC: d'] }],
    ['NUL in the value of a header', { headers: ['A', '\0'] }],
    ['a character of two bytes in a value', { headers: ['A', '\u010a'] }],
    ...[
      'Host',
      'CONNECTION',
      'transfer-encoding',
      'Content-Length',
      'Keep-Alive',
      'upgrade',
      'Expect',
      'TE',
      'Trailer',
      'Proxy-Connection',
    ].map((name): [string, Partial<ClientRequest>] => [name, { headers: [name, 'x'] }]),
    ['an upgrade with a body', { upgrade: 'websocket', body: Buffer.from('x') }],
    ['a length below 0', { method: 'PUT', body: { stream: source(), length: -1 } }],
    ['a length that is no integer', { method: 'PUT', body: { stream: source(), length: 0.5 } }],
    ['a stream that was destroyed', { body: { stream: source().destroy(), length: 1 } }],
  ])(
    'with %s is refused before a byte is written, and the connection stays free',
    async (_, request) => {
      let received = '';
      server.does((socket, part) => {
        received += part;
        socket.write(ok('x'));
      });
      const owned = await server.connect();
      const recorder = new Recorder();
      expect(() => owned.connection.send(requestOf(request), recorder)).toThrow(RequestInvalid);
      expect(recorder.told).toEqual([]);
      expect((await owned.ask()).body).toBe('x');
      expect(received).toMatch(
        /^GET \/ HTTP\/1\.1\r\nhost: example\.test\r\nconnection: keep-alive\r\n\r\n$/,
      );
    },
  );
});

describe('A connection is not used again', () => {
  it.each<[string, string]>([
    ['HTTP/1.0', ok('x').replace('1.1', '1.0')],
    ['Connection: close', ok('x', 'Connection: Close\r\n')],
    ['a time of nothing', ok('x', 'Keep-Alive: timeout=1\r\n')],
    ['bytes behind the answer', `${ok('x')}y`],
    ['another answer behind the answer', ok('x') + ok('stolen')],
    [
      'bytes behind chunks',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\ny',
    ],
  ])('behind an answer with %s, which counts', async (_, text) => {
    const { owned, answer } = await ask(says(text));
    expect(answer).toMatchObject({ body: 'x', error: undefined, trailers: [] });
    expect(answer.told.at(-1)).toBe('complete');
    expect(owned.events).toEqual(['closed']);
    await waitFor(() => server.open.size === 0);
  });

  it('behind an answer that the end of the connection ends', async () => {
    const { owned, answer } = await ask(saysAndEnds('HTTP/1.1 200 OK\r\n\r\nall'));
    expect(answer).toMatchObject({ body: 'all', error: undefined });
    expect(owned.events).toEqual(['closed']);
  });

  it('behind an answer to an upgrade that is none', async () => {
    const { owned, answer } = await ask(says(ok('x')), { upgrade: 'websocket' });
    expect(answer.body).toBe('x');
    expect(owned.events).toEqual(['closed']);
  });

  it.each<[string, (socket: Socket) => void]>([
    ['bytes', (socket) => socket.write('x')],
    ['an answer that nobody asked for', (socket) => socket.write(ok('stolen'))],
    ['an end', (socket) => socket.end()],
    ['a reset', (socket) => socket.resetAndDestroy()],
  ])('once it is free and %s comes', async (_, behaviour) => {
    const { owned } = await ask(says(ok('x')));
    expect(owned.events).toEqual(['free']);
    for (const socket of server.open) behaviour(socket);
    await waitFor(() => owned.events.length > 1);
    expect(owned.events).toEqual(['free', 'closed']);
    await waitFor(() => server.open.size === 0);
  });

  it('when bytes come before the first byte of a request is out', async () => {
    const stream = source();
    const { owned } = await ask(says(ok('x')));
    const recorder = new Recorder();
    const over = owned.ask({ method: 'PUT', body: { stream, length: undefined } }, recorder);
    for (const socket of server.open) socket.write(ok('stolen'));
    expect((await over).error).toMatchObject(isBroken);
    expect(recorder.told).toEqual(['failed']);
    expect(owned.events).toEqual(['free', 'closed']);
    expect(stream.destroyed).toBe(false);
  });

  it('so the second of two answers never reaches the next request', async () => {
    const { owned, answer } = await ask(says(ok('mine') + ok('stolen')));
    expect(answer.body).toBe('mine');
    const next = new Recorder();
    expect(() => owned.connection.send(requestOf(), next)).toThrow('not free');
    expect(next.told).toEqual([]);
  });
});

describe('An answer that comes before the request is out', () => {
  it('is reported whole, ends the connection, and leaves the stream alone', async () => {
    const stream = source();
    const { owned, answer } = await ask(says(ok('early')), {
      method: 'PUT',
      body: { stream: (stream.push('x'), stream), length: 10 },
    });
    expect(answer).toMatchObject({ body: 'early', error: undefined });
    expect(answer.told).toEqual(['bodySent', 'begun', 'head', 'data', 'complete']);
    expect(owned.events).toEqual(['closed']);
    expect(stream.destroyed).toBe(false);
    expect(stream.isPaused()).toBe(true);
    expect(stream.listenerCount('data') + stream.listenerCount('end')).toBe(0);
    stream.destroy(new Error('its owner hears of it'));
  });

  it('counts when the server closes behind it', async () => {
    const stream = source();
    stream.push('x');
    const { owned, answer } = await ask(saysAndEnds('HTTP/1.1 413 X\r\n\r\nno'), {
      method: 'PUT',
      body: { stream, length: 10 },
    });
    expect(answer).toMatchObject({ status: 413, body: 'no', error: undefined });
    expect(owned.events).toEqual(['closed']);
  });

  it('goes on while the rest of the request does', async () => {
    const stream = source();
    stream.push('one');
    let received = '';
    server.does((socket, part) => {
      received += part;
      if (received.endsWith('one')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na');
      if (received.endsWith('two')) socket.write('b');
    });
    const owned = await server.connect();
    const recorder = new Recorder({
      data: () => {
        if (!stream.readableEnded) stream.push('two');
        stream.push(null);
        return true;
      },
    });
    await owned.ask({ method: 'PUT', body: { stream, length: 6 } }, recorder);
    expect(recorder).toMatchObject({ body: 'ab', error: undefined });
    expect(owned.events).toEqual(['free']);
  });

  it('ends the connection while a body given whole is still in its queue', async () => {
    server.does((socket) => void socket.pause().write(ok('early')));
    const owned = await server.connect();
    const answer = await owned.ask({ method: 'PUT', body: Buffer.alloc(50_000_000) });
    expect(answer).toMatchObject({ body: 'early', error: undefined });
    expect(owned.events).toEqual(['closed']);
  });
});

describe('A broken answer', () => {
  it.each<[string, string]>([
    ['without a word', ''],
    ['within the status line', 'HTTP/1.1 20'],
    ['within the headers', 'HTTP/1.1 200 OK\r\nContent-Le'],
    ['behind an interim answer', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
    ['within a body of a known length', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab'],
    ['within a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab'],
    ['before the last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n'],
    ['before the empty line', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n'],
    ['within the trailers', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n'],
  ])('is reported when the server hangs up %s', async (_, text) => {
    const { owned, answer } = await ask(saysAndEnds(text));
    expect(answer.error).toMatchObject(isBroken);
    expect(answer.trailers).toBeUndefined();
    expect(answer.told.filter((told) => told === 'begun')).toHaveLength(text === '' ? 0 : 1);
    expect(owned.events).toEqual(['closed']);
  });

  it('is reported when the server resets within a body that its close would end', async () => {
    let accepted: Socket | undefined;
    server.does((socket) => {
      accepted = socket;
      socket.write('HTTP/1.1 200 OK\r\n\r\nabc');
    });
    const owned = await server.connect();
    const recorder = new Recorder({
      data: () => {
        accepted?.resetAndDestroy();
        return true;
      },
    });
    const { error } = await owned.ask({}, recorder);
    expect(recorder.body).toBe('abc');
    expect(error).toMatchObject({ ...isBroken, cause: { code: 'ECONNRESET' } });
    expect(owned.events).toEqual(['closed']);
  });

  it('is reported when it is not HTTP/1.1, without a byte of it', async () => {
    const { owned, answer } = await ask(says('HTTP/1.1 200 OK\r\nA : b\r\n\r\n'));
    expect(answer.error).toMatchObject(isInvalid);
    expect(answer.error).toBeInstanceOf(AnswerFault);
    expect(answer.told).toEqual(['requestSent', 'begun', 'failed']);
    expect(owned.events).toEqual(['closed']);
    await waitFor(() => server.open.size === 0);
  });
});

describe('A receiver', () => {
  it('that takes no more gets nothing until it resumes, and misses nothing then', async () => {
    const part = 'x'.repeat(64 * 1024);
    const parts = 300;
    server.does((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${part.length * parts}\r\n\r\n`);
      for (let n = 0; n < parts; n += 1) socket.write(part);
    });
    const owned = await server.connect();
    let isPaused = false;
    let pauses = 0;
    let bytes = 0;
    const recorder = new Recorder({
      data: (chunk, isLast) => {
        expect(isPaused).toBe(false);
        bytes += chunk.length;
        if (isLast) return false;
        isPaused = true;
        pauses += 1;
        setImmediate(() => {
          isPaused = false;
          owned.connection.resume();
        });
        return false;
      },
    });
    await owned.ask({}, recorder);
    expect(bytes).toBe(part.length * parts);
    expect(pauses).toBeGreaterThan(50);
    expect(recorder.parts.every(({ length }) => length > 0)).toBe(true);
    expect(owned.events).toEqual(['free']);
    expect(owned.socket.isPaused()).toBe(false);
  });

  it.each([
    ['a body of a known length', 'Content-Length: 50000000\r\n\r\n'],
    ['a body that the close ends', '\r\n'],
    ['chunks', 'Transfer-Encoding: chunked\r\n\r\n2faf080\r\n'],
  ])('that takes no more of %s holds the server back', async (_, framing) => {
    let accepted: Socket | undefined;
    server.does((socket) => {
      accepted = socket;
      socket.write(`HTTP/1.1 200 OK\r\n${framing}`);
      socket.write(Buffer.alloc(50_000_000));
    });
    const owned = await server.connect();
    const recorder = new Recorder({ data: () => false });
    void owned.ask({}, recorder);
    await waitFor(() => recorder.parts.length === 1 && (accepted?.bytesWritten ?? 0) > 0);
    expect(recorder.parts).toHaveLength(1);
    expect(owned.socket.isPaused()).toBe(true);
    owned.connection.resume();
    await waitFor(() => recorder.parts.length === 2);
    expect(accepted?.writableLength).toBeGreaterThan(0);
    owned.connection.abort(new Error('enough'));
  });

  it('that takes no more of chunks gets the trailers when it resumes', async () => {
    server.does((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nA: ');
    });
    const owned = await server.connect();
    const recorder = new Recorder({ data: () => false });
    const over = owned.ask({}, recorder);
    await waitFor(() => recorder.parts.length === 1);
    for (const socket of server.open) socket.write('b\r\n\r\n');
    expect(recorder.told.at(-1)).toBe('data');
    owned.connection.resume();
    expect((await over).trailers).toEqual(['A', 'b']);
  });

  it('whose connection is closed is told that it is broken', async () => {
    server.does(() => undefined);
    const owned = await server.connect();
    const over = owned.ask();
    owned.connection.close();
    expect((await over).error).toMatchObject(isBroken);
    expect(owned.events).toEqual(['closed']);
  });

  it('on a connection whose socket has already ended is told so', async () => {
    const { owned: first } = await ask(says(ok('x')));
    first.socket.destroy();
    await once(first.socket, 'close');
    const owned = new SpecConnectionOwner(first.socket);
    const { error } = await owned.ask();
    expect(error).toMatchObject(isBroken);
    expect(owned.events).toEqual(['closed']);
  });

  it('that aborts gets its error at once, and nothing else', async () => {
    server.does(() => undefined);
    const owned = await server.connect();
    const recorder = new Recorder({ failed: () => owned.events.push('failed') });
    void owned.ask({}, recorder);
    const error = new Error('enough');
    owned.connection.abort(error);
    expect(recorder.error).toBe(error);
    expect(owned.events).toEqual(['closed', 'failed']);
    owned.connection.abort(new Error('once more'));
    owned.connection.close();
    owned.connection.resume();
    await waitFor(() => server.open.size === 0);
    expect(recorder.told).toEqual(['requestSent', 'failed']);
    expect(owned.events).toEqual(['closed', 'failed']);
  });

  it.each<keyof AnswerReceiver>(['begun', 'informational', 'head', 'headAlone', 'data'])(
    'that aborts in %s gets nothing more of the same read',
    async (name) => {
      const { recorder, owned } = await whileReading(name, (connection) =>
        connection.abort(new Error('enough')),
      );
      expect(recorder.error?.message).toBe('enough');
      expect(recorder.told.slice(-2)).toEqual([name, 'failed']);
      expect(owned.events).toEqual(['closed']);
    },
  );

  it.each<keyof AnswerReceiver>(['begun', 'informational', 'head', 'headAlone', 'data'])(
    'that throws in %s gets what it threw, and the connection ends',
    async (name) => {
      const error = new Error('thrown');
      const { recorder, owned } = await whileReading(name, () => {
        throw error;
      });
      expect(recorder.error).toBe(error);
      expect(recorder.told.slice(-2)).toEqual([name, 'failed']);
      expect(owned.events).toEqual(['closed']);
    },
  );

  it.each<keyof AnswerReceiver>(['bodySent', 'requestSent'])(
    'that throws in %s gets what it threw, and the connection ends',
    async (name) => {
      server.does(() => undefined);
      const owned = await server.connect();
      const error = new Error('thrown');
      const recorder = new Recorder({
        [name]: () => {
          throw error;
        },
      });
      const body = { stream: Readable.from([Buffer.from('x')]), length: 1 };
      await owned.ask({ method: 'PUT', body }, recorder);
      expect(recorder.error).toBe(error);
      expect(recorder.told.slice(-2)).toEqual([name, 'failed']);
      expect(owned.events).toEqual(['closed']);
    },
  );

  it('that throws when all is over ends the connection, too', async () => {
    server.does(says(ok('x')));
    const owned = await server.connect();
    const error = new Error('thrown');
    const recorder = new Recorder({
      complete: () => {
        throw error;
      },
    });
    await owned.ask({}, recorder);
    await waitFor(() => recorder.error === error);
    expect(owned.events).toEqual(['free', 'closed']);
  });

  it('that throws when all is over ends no call that another has begun since', async () => {
    server.does(says(ok('x')));
    const owned = await server.connect();
    const next = new Recorder();
    const recorder = new Recorder({
      complete: () => {
        owned.connection.send(requestOf(), next);
        throw new Error('thrown');
      },
    });
    await owned.ask({}, recorder);
    expect((await next.over).body).toBe('x');
    expect(recorder.error?.message).toBe('thrown');
    expect(owned.events).toEqual(['free', 'free']);
  });

  /** One read for each kind of event. */
  async function whileReading(
    name: keyof AnswerReceiver,
    does: (connection: SpecConnectionOwner['connection']) => void,
  ) {
    const interim = 'HTTP/1.1 103 X\r\n\r\n';
    const framing = 'Content-Length: 6\r\n\r\n';
    server.does(
      says(`${interim}HTTP/1.1 200 OK\r\n${framing}${name === 'headAlone' ? '' : 'abc'}`),
    );
    const owned = await server.connect();
    const recorder: Recorder = new Recorder({
      [name]: () => {
        does(owned.connection);
        return true;
      },
    });
    await owned.ask({}, recorder);
    await waitFor(() => server.open.size === 0);
    return { recorder, owned };
  }
});

describe('An upgrade', () => {
  const switches =
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

  it('hands over the socket, without listeners, and the bytes behind the head', async () => {
    let received = '';
    server.does((socket, part) => {
      received += part;
      socket.write(part.startsWith('GET') ? `${switches}hel` : part);
    });
    const owned = await server.connect();
    const before = owned.socket.eventNames();
    const recorder = new Recorder({ upgraded: () => owned.events.push('upgraded') });
    const answer = await owned.ask({ upgrade: 'websocket', headers: ['A', 'b'] }, recorder);
    expect(answer.told).toEqual(['requestSent', 'begun', 'upgraded']);
    expect(answer).toMatchObject({
      status: 101,
      headers: ['Connection', 'Upgrade', 'Upgrade', 'websocket'],
    });
    expect(owned.events).toEqual(['closed', 'upgraded']);
    expect(received).toBe(
      'GET / HTTP/1.1\r\nhost: example.test\r\nconnection: upgrade\r\nupgrade: websocket\r\nA: b\r\n\r\n',
    );
    const { socket } = answer;
    expect(socket).toBe(owned.socket);
    for (const name of ['data', 'error', 'close', 'drain']) {
      expect(socket?.listenerCount(name)).toBe(0);
    }
    expect(before).toContain('data');
    let text = '';
    socket?.on('data', (part: Buffer) => (text += part.toString())).resume();
    socket?.write('lo');
    await waitFor(() => text === 'hello');
    socket?.destroy();
    expect(owned.events).toEqual(['closed', 'upgraded']);
  });

  it('whose receiver throws ends the socket', async () => {
    server.does(says(switches));
    const owned = await server.connect();
    const error = new Error('thrown');
    const recorder = new Recorder({
      upgraded: () => {
        throw error;
      },
    });
    await owned.ask({ upgrade: 'websocket' }, recorder);
    await waitFor(() => recorder.error === error);
    expect(owned.events).toEqual(['closed']);
    await waitFor(() => server.open.size === 0);
  });

  it('that nobody asked for is not an answer', async () => {
    const { owned, answer } = await ask(says(switches));
    expect(answer.error).toMatchObject(isInvalid);
    expect(answer.told).not.toContain('upgraded');
    expect(owned.events).toEqual(['closed']);
  });
});
