import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { waitFor } from '@glovebox/testing';
import { startSpecForward, type SpecForward } from '../forward/spec-forward';
import {
  atAll,
  connectionNames,
  entryNames,
  openEntries,
  type Entries,
  type Entry,
} from '../spec-entries';
import { RawCaller, startRawServer, type RawServer } from '../spec-sockets';

let gateway: SpecForward;
let destination: RawServer;
let entries: Entries;
const answered = 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok';

beforeAll(async () => {
  gateway = await startSpecForward({
    HEADERS_TIMEOUT_MS: '300',
    REQUEST_TIMEOUT_MS: '600',
    BODY_IDLE_MS: '600',
  });
  destination = await startRawServer((socket, text) => {
    if (text.startsWith('GET /now')) socket.write(answered);
    if (text.startsWith('GET /moment')) socket.write('HTTP/1.1 200 OK\r\n\r\n1234');
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
const late = { status: 408, code: 'invalid_request' };
const chunked = 'Transfer-Encoding: chunked\r\n';
/** Headers of a body that only the destination reads. */
const streamed = 'Content-Type: text/plain\r\nContent-Encoding: gzip\r\n';

const inFlight = async (): Promise<number> => {
  const metric = gateway.ctx.registry.getSingleMetric('glovebox_gateway_requests_in_flight');
  return (await metric?.get())?.values[0]?.value ?? Number.NaN;
};

const written = (
  { target, keys }: Entry,
  method: string,
  path: string,
  headers = '',
  version = '1.1',
): string => `${method} ${target(path)} HTTP/${version}\r\n${keys}${headers}\r\n`;

describe('a slow caller by every entry', () => {
  it.each([
    ['says nothing', ''],
    ['does not end its first line', 'GET /pro'],
    ['does not end its headers', 'GET /proxy HTTP/1.1\r\nHost: a\r\nX-A: '],
  ])('gets 408 when it %s', (_, bytes) =>
    atAll(entries, async ({ call }, name) => {
      const caller = await call(bytes);
      await waitFor(() => caller.ended);
      // Where no byte tells what is spoken, nobody can be answered.
      if (bytes === '' && name === 'in a tunnel without TLS') expect(caller.text).toBe('');
      else expect(caller.json).toMatchObject(late);
    }),
  );

  it('gets 408 when it does not end a body that is read whole', () =>
    atAll(entries, async (entry) => {
      const headers = 'Content-Type: application/json\r\nContent-Length: 9\r\n';
      const caller = await entry.call(`${written(entry, 'POST', '/whole', headers)}{`);
      await waitFor(() => caller.ended);
      expect(caller.json).toMatchObject({ proxy_error: late });
      expect(destination.heard('/whole')).toBeUndefined();
    }));

  it('gets 408 when it does not end a body that is passed on, and the destination sees no end', () =>
    atAll(entries, async (entry, name) => {
      const path = `/late/${entryNames.indexOf(name)}`;
      const head = written(entry, 'POST', path, streamed + chunked);
      const caller = await entry.call(`${head}1\r\na\r\n`);
      await waitFor(() => caller.ended && destination.heard(path)?.ended === true);
      expect(caller.json).toMatchObject({ proxy_error: late });
      expect(destination.heard(path)?.text).not.toMatch(/\r\n0\r\n\r\n$/);
    }));
});

describe.each(connectionNames)('%s', (name) => {
  const call = (bytes: string): Promise<RawCaller> => entries[name].call(bytes);
  const request = (method: string, path: string, headers?: string, version?: string): string =>
    written(entries[name], method, path, headers, version);
  const get = (path: string): string => request('GET', path);

  describe('an unreadable request', () => {
    it('behind a request under way does not cost that its answer, and ends the connection', async () => {
      const caller = await call(`${get('/behind')}nonsense\r\n\r\n${get('/now')}`);
      await waitFor(() => destination.heard('/behind') !== undefined);
      caller.socket.write('more nonsense');
      destination.heard('/behind')?.socket.write(answered);
      await waitFor(() => caller.ended);
      expect(caller.text).toMatch(/^HTTP\/1\.1 200 [^]*connection: close[^]*\r\n\r\nok$/i);
      expect(destination.heard('/now')).toBeUndefined();
    });

    it('behind an answer that is half out lets the answer end', async () => {
      const caller = await call(get('/half'));
      await waitFor(() => destination.heard('/half') !== undefined);
      destination.heard('/half')?.socket.write(answered.slice(0, -1));
      await waitFor(() => caller.text.endsWith('o'));
      caller.socket.write('nonsense\r\n\r\n');
      destination.heard('/half')?.socket.write('k');
      await waitFor(() => caller.ended);
      expect(caller.text.match(/HTTP\/1\.1/g)).toHaveLength(1);
      expect(caller.text).toMatch(/\r\n\r\nok$/);
    });

    it('in place of the rest of a body breaks off the request to the destination', async () => {
      const caller = await call(`${request('POST', '/broken', streamed + chunked)}1\r\na\r\n`);
      await waitFor(() => destination.heard('/broken')?.text.endsWith('\r\na\r\n') === true);
      caller.socket.write('nonsense\r\n\r\n');
      await waitFor(() => caller.ended && destination.heard('/broken')?.ended === true);
      expect(caller.json).toMatchObject({ proxy_error: { status: 400, code: 'invalid_request' } });
      expect(destination.heard('/broken')?.text).not.toMatch(/\r\n0\r\n\r\n$/);
    });
  });

  it('a caller that leaves within its body leaves no request at the destination', async () => {
    const caller = await call(`${request('POST', '/leaves', `${streamed}Content-Length: 9\r\n`)}a`);
    await waitFor(() => destination.heard('/leaves') !== undefined);
    caller.socket.destroy();
    await waitFor(() => destination.heard('/leaves')?.ended === true);
  });

  it('callers of HTTP/1.0 that stop sending just when their answer breaks off keep no place and no socket', async () => {
    const before = await inFlight();
    const isOpen = new Set<Socket>();
    entries[name].server.on('connection', (socket: Socket) => {
      isOpen.add(socket);
      socket.once('close', () => isOpen.delete(socket));
    });
    for (let nth = 0; nth < 20; nth += 1) {
      const caller = await call(request('GET', `/moment${nth}.`, '', '1.0'));
      await waitFor(() => caller.text.endsWith('1234'));
      caller.socket.end(() => destination.heard(`/moment${nth}.`)?.socket.resetAndDestroy());
    }
    await waitFor(async () => isOpen.size === 0 && (await inFlight()) === before);
  });

  describe('pipelined calls whose turn never comes', () => {
    it('end when their caller leaves', async () => {
      const before = await inFlight();
      const caller = await call(get('/wait') + get('/wait'));
      await waitFor(async () => (await inFlight()) === before + 2);
      caller.socket.destroy();
      await waitFor(async () => (await inFlight()) === before);
      await waitFor(() => destination.connections.every(({ ended }) => ended));
      // Node 24 reports their end once more.
      expect(await inFlight()).toBe(before);
    });

    it('share one listener for the end of their connection', async () => {
      const before = await inFlight();
      // The limit of what Node takes for a leak.
      const calls = EventEmitter.defaultMaxListeners + 5;
      const { server } = entries[name];
      let accepted: { socket: Socket; alone: number } | undefined;
      // A tunnel is accepted twice: with its CONNECT, and for the requests in it.
      const accept = (socket: Socket): void => {
        accepted = { socket, alone: socket.listenerCount('close') };
      };
      server.on('connection', accept);
      const caller = await call(get('/wait').repeat(calls));
      await waitFor(async () => (await inFlight()) === before + calls);
      server.off('connection', accept);
      const { socket, alone = Number.NaN } = accepted ?? {};
      const more = (): number => (socket?.listenerCount('close') ?? Number.NaN) - alone;
      expect(more()).toBeLessThanOrEqual(2);
      caller.socket.destroy();
      await waitFor(async () => (await inFlight()) === before);
      expect(more()).toBeLessThanOrEqual(0);
    });

    it('are dropped behind an answer that ends the connection', async () => {
      const before = await inFlight();
      const caller = await call(request('GET', '/two', 'Host: b\r\n') + get('/now').repeat(3));
      await waitFor(() => caller.ended);
      await waitFor(async () => (await inFlight()) === before);
      expect(destination.heard('/now')).toBeUndefined();
    });
  });
});

describe('at the front door', () => {
  const call = (bytes: string): RawCaller => new RawCaller(gateway.port, bytes);

  it('a slow caller gets 408 too, and the management API sees no end', async () => {
    const caller = call(`POST /tokens HTTP/1.1\r\nHost: a\r\n${chunked}\r\n1\r\n{\r\n`);
    await waitFor(() => caller.ended);
    expect(caller.json).toMatchObject(late);
    expect(gateway.management.requests).toEqual([]);
  });

  it('the sender of a body that grows too large reads a refusal, and is not cut off', async () => {
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const caller = call(`DELETE /tokens HTTP/1.1\r\nHost: a\r\n${chunked}\r\n${chunk.repeat(20)}`);
    await waitFor(() => caller.ended);
    expect(caller.json).toMatchObject({ code: 'payload_too_large' });
  });
});
