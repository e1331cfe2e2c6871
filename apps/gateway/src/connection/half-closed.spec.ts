import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { waitFor } from '@glovebox/testing';
import type { Call } from '../observing/call';
import { startSpecForward, type SpecForward } from '../forward/spec-forward';
import { connectionNames, openEntries, type Entries } from '../spec-entries';
import { RawCaller, startRawServer, type RawServer } from '../spec-sockets';
import { CallerRequest } from './caller-request';
import { CallerResponse } from './caller-response';
import { answerHalfClosed } from './half-closed';

let gateway: SpecForward;
let destination: RawServer;
let entries: Entries;
const answered = 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok';
const isOpen = new Set<Socket>();

beforeAll(async () => {
  gateway = await startSpecForward();
  for (const server of [gateway.server, gateway.forwardServer]) {
    server.on('connection', (socket: Socket) => {
      isOpen.add(socket);
      socket.once('close', () => isOpen.delete(socket));
    });
  }
  destination = await startRawServer((socket, text) => {
    if (/^\w+ \/now/.test(text)) socket.write(answered);
  });
  entries = await openEntries(gateway, destination.url);
});
afterEach(() => {
  for (const { socket } of destination.connections.splice(0)) socket.destroy();
});
afterAll(async () => {
  await destination.close();
  await gateway.close();
});

const heard = (path: string) => destination.heard(`/${path} `);

/** All that is sent early. The caller is known to stay then. */
const begun = 'HTTP/1.1 ';
const inFull = /^HTTP\/1\.1 200 OK\r\n(?:[\w-]+: .*\r\n)+\r\nok$/;

/** Nothing stays open for callers that got all that they will get. */
const nothingStays = () => waitFor(() => isOpen.size === 0);

describe.each(connectionNames)('%s', (name) => {
  const call = (bytes: string): Promise<RawCaller> => entries[name].call(bytes);
  /** Sends the bytes and ends the caller's side behind them. */
  const halfClosed = async (bytes: string): Promise<RawCaller> => {
    const caller = await call(bytes);
    caller.socket.end();
    return caller;
  };
  const request = (method: string, path: string, headers = '', version = '1.1'): string => {
    const { target, keys } = entries[name];
    return `${method} ${target(`/${path}`)} HTTP/${version}\r\n${keys}${headers}\r\n`;
  };
  const get = (path: string, version?: string): string => request('GET', path, '', version);

  describe('a caller that ends its side behind its request gets its answer, and the connection ends', () => {
    it.each(['1.1', '1.0'])('in HTTP/%s, when the destination takes its time', async (version) => {
      const caller = await halfClosed(get(`slow${version}`, version));
      await waitFor(() => caller.text === begun);
      expect(heard(`slow${version}`)?.ended).toBe(false);
      heard(`slow${version}`)?.socket.write(answered);
      await waitFor(() => caller.ended);
      expect(caller.text).toMatch(inFull);
      await nothingStays();
    });

    it.each([
      ['a length', 'Content-Length: 5\r\n', 'hello'],
      ['chunks', 'Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n0\r\n\r\n'],
      [
        'a length that waits to be asked for',
        'Content-Length: 5\r\nExpect: 100-continue\r\n',
        'hello',
      ],
    ])('with a body of %s', async (_, framing, body) => {
      const caller = await halfClosed(request('POST', 'now/b', framing) + body);
      await waitFor(() => caller.ended);
      expect(caller.text.replace('HTTP/1.1 100 Continue\r\n\r\n', '')).toMatch(inFull);
      expect(destination.heard('/now/b')?.text).toContain('hello');
      await nothingStays();
    });

    it('for each of its requests, in their order', async () => {
      const caller = await halfClosed(get('first') + get('now/second') + get('third'));
      await waitFor(() => caller.text === begun && heard('third') !== undefined);
      heard('third')?.socket.write(answered.replace('ok', '3.'));
      heard('first')?.socket.write(answered.replace('ok', '1.'));
      await waitFor(() => caller.ended);
      expect(caller.text.split(/HTTP\/1\.1 200 [^]*?\r\n\r\n/)).toEqual(['', '1.', 'ok', '3.']);
      await nothingStays();
    });

    it('when it ends its side within an answer that goes on', async () => {
      const caller = await call(get('parts'));
      await waitFor(() => heard('parts') !== undefined);
      heard('parts')?.socket.write(
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n.\r\n',
      );
      await waitFor(() => caller.text.endsWith('1\r\n.\r\n'));
      const endedAt = performance.now();
      caller.socket.end();
      // Longer than a caller is doubted.
      while (performance.now() - endedAt < 700) {
        const before = caller.text.length;
        heard('parts')?.socket.write('1\r\n.\r\n');
        await waitFor(() => caller.text.length > before);
      }
      heard('parts')?.socket.write('0\r\n\r\n');
      await waitFor(() => caller.ended);
      expect(caller.text).toMatch(/\r\n0\r\n\r\n$/);
      await nothingStays();
    });
  });

  it('a caller that ends its side and stays is not doubted again while its answer stands still', async () => {
    const half = 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 8\r\n\r\nhalf';
    const stays = await halfClosed(get('stays'));
    await waitFor(() => stays.text === begun);
    heard('stays')?.socket.write(half);
    await waitFor(() => stays.text.endsWith('half'));
    // These callers, one behind the other, are doubted for longer than a new doubt about it would last.
    for (const path of ['leaves/1', 'leaves/2', 'leaves/3', 'leaves/4']) {
      const leaves = await call(get(path));
      await waitFor(() => heard(path) !== undefined);
      heard(path)?.socket.write(half);
      await waitFor(() => leaves.text.endsWith('half'));
      leaves.socket.destroy();
      await waitFor(() => heard(path)?.ended === true);
    }
    heard('stays')?.socket.write('done');
    await waitFor(() => stays.ended);
    expect(stays.text).toMatch(/\r\n\r\nhalfdone$/);
    await nothingStays();
  });

  describe('a caller that ends its side and leaves', () => {
    it.each([
      ['before its answer', '1.1', ''],
      ['before its answer', '1.0', ''],
      ['within its answer', '1.1', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'],
      ['within its answer', '1.0', 'HTTP/1.1 200 OK\r\n\r\nhalf'],
    ])('%s, in HTTP/%s, ends the request to the destination', async (_, version, part) => {
      const path = `left${version}${part.length}`;
      const caller = await call(get(path, version));
      await waitFor(() => heard(path) !== undefined);
      heard(path)?.socket.write(part);
      await waitFor(() => caller.text.endsWith('half') === (part !== ''));
      caller.socket.destroy();
      await waitFor(() => heard(path)?.ended === true);
      await nothingStays();
    });

    it('just when the head of its answer comes, ends the request to the destination', async () => {
      const caller = await halfClosed(get('head'));
      await waitFor(() => caller.text !== '' && heard('head') !== undefined);
      caller.socket.destroy();
      heard('head')?.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n');
      await waitFor(() => heard('head')?.ended === true);
      await nothingStays();
    });
  });

  describe('a caller that ends its side', () => {
    it.each([
      ['before a request', () => '', ''],
      ['within a head', () => 'GET /proxy HT', '400'],
      ['within a body', () => `${request('POST', 'now', 'Content-Length: 9\r\n')}half`, '400'],
      ['behind an answer', () => get('now'), '200'],
    ])('%s keeps no connection', async (_, bytes, status) => {
      const caller = await call(bytes());
      if (status === '200') await waitFor(() => caller.status === 200);
      caller.socket.end();
      await waitFor(() => caller.ended);
      expect(caller.text.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)).toBe(status);
      await nothingStays();
    });
  });
});

describe('a caller of something else than a proxy that ends its side behind its request gets its answer', () => {
  it.each([
    ['the management API', 'GET /tokens', 200],
    ['a reactor without a runner', 'POST /reactors/x/react', 404],
    ['the health', 'GET /health/live', 200],
  ])('from %s', async (_, line, status) => {
    const { call, keys } = entries['at /proxy'];
    const caller = await call(`${line} HTTP/1.1\r\n${keys}\r\n`);
    caller.socket.end();
    await waitFor(() => caller.ended);
    expect(caller.status).toBe(status);
    await nothingStays();
  });
});

describe('on a server of its own', () => {
  let server: Server;
  let last: CallerResponse | undefined;

  beforeAll(async () => {
    server = createServer({ IncomingMessage: CallerRequest, ServerResponse: CallerResponse });
    const serve = (req: CallerRequest, res: CallerResponse): void => {
      if (req.url === '/served') res.call = {} as Call;
      last = res;
    };
    server.on('request', serve).on('checkContinue', serve);
    answerHalfClosed(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  beforeEach(() => (last = undefined));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const call = (bytes: string): RawCaller => {
    const caller = new RawCaller((server.address() as AddressInfo).port, bytes);
    caller.socket.end();
    return caller;
  };

  it('an answer that has begun early is not interrupted by 100 Continue', async () => {
    const caller = call(
      'POST /served HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\na',
    );
    await waitFor(() => caller.text !== '');
    last?.writeContinue();
    last?.writeHead(200, ['Content-Length', '2']);
    last?.end('ok');
    await waitFor(() => caller.ended);
    expect(caller.text).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nok$/);
  });

  it('a request that nobody serves keeps no connection', async () => {
    const caller = call('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await waitFor(() => caller.ended);
    expect(caller.text).toBe('');
  });
});
