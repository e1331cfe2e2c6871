import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';
import { waitFor } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';
import { RawCaller, startRawServer, type RawServer } from '../spec-sockets';

let gateway: SpecGateway;
let destination: RawServer;
let keys: string;
/** Headers of a call whose body only the destination reads. */
let streamed: string;
const answered = 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok';

beforeAll(async () => {
  gateway = await startSpecGateway({
    HEADERS_TIMEOUT_MS: '300',
    REQUEST_TIMEOUT_MS: '600',
    BODY_IDLE_MS: '600',
  });
  destination = await startRawServer((socket, text) => {
    if (text.startsWith('GET /now')) socket.write(answered);
    if (text.startsWith('GET /moment')) socket.write('HTTP/1.1 200 OK\r\n\r\n1234');
  });
  const key = await gateway.application(['token:use']);
  const proxyKey = await gateway.proxy(destination.url);
  keys = `Host: a\r\nSVC-API-KEY: ${key}\r\nSVC-PROXY-KEY: ${proxyKey}\r\n`;
  streamed = `${keys}Content-Type: text/plain\r\nContent-Encoding: gzip\r\n`;
});
afterAll(async () => {
  await destination.close();
  await gateway.close();
});
const call = (bytes: string): RawCaller => new RawCaller(gateway.port, bytes);
const late = { status: 408, code: 'invalid_request' };

describe('a slow caller', () => {
  it.each([
    ['says nothing', ''],
    ['does not end its first line', 'GET /pro'],
    ['does not end its headers', 'GET /proxy HTTP/1.1\r\nHost: a\r\nX-A: '],
  ])('gets 408 when it %s', async (_, bytes) => {
    const caller = call(bytes);
    await waitFor(() => caller.ended);
    expect(caller.json).toMatchObject(late);
  });

  it('gets 408 when it does not end a body that is read whole', async () => {
    const caller = call(
      `POST /proxy/whole HTTP/1.1\r\n${keys}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
    );
    await waitFor(() => caller.ended);
    expect(caller.json).toMatchObject({ proxy_error: late });
    expect(destination.heard('/whole')).toBeUndefined();
  });

  it('gets 408 when it does not end a body that is passed on, and the destination sees no end', async () => {
    const caller = call(
      `POST /proxy/late HTTP/1.1\r\n${streamed}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n`,
    );
    await waitFor(() => caller.ended && destination.heard('/late')?.ended === true);
    expect(caller.json).toMatchObject({ proxy_error: late });
    expect(destination.heard('/late')?.text).not.toMatch(/\r\n0\r\n\r\n$/);
  });

  it('gets 408 at the front door too, and the management API sees no end', async () => {
    const caller = call(
      'POST /tokens HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n',
    );
    await waitFor(() => caller.ended);
    expect(caller.json).toMatchObject(late);
    expect(gateway.management.requests).toEqual([]);
  });
});

describe('an unreadable request', () => {
  it('behind a request under way does not cost that its answer, and ends the connection', async () => {
    const caller = call(
      `GET /proxy/behind HTTP/1.1\r\n${keys}\r\nnonsense\r\n\r\nGET /proxy/now HTTP/1.1\r\n${keys}\r\n`,
    );
    await waitFor(() => destination.heard('/behind') !== undefined);
    caller.socket.write('more nonsense');
    destination.heard('/behind')?.socket.write(answered);
    await waitFor(() => caller.ended);
    expect(caller.text).toMatch(/^HTTP\/1\.1 200 [^]*connection: close[^]*\r\n\r\nok$/i);
    expect(destination.heard('/now')).toBeUndefined();
  });

  it('behind an answer that is half out lets the answer end', async () => {
    const caller = call(`GET /proxy/half HTTP/1.1\r\n${keys}\r\n`);
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
    const caller = call(
      `POST /proxy/broken HTTP/1.1\r\n${streamed}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n`,
    );
    await waitFor(() => destination.heard('/broken')?.text.endsWith('\r\na\r\n') === true);
    caller.socket.write('nonsense\r\n\r\n');
    await waitFor(() => caller.ended && destination.heard('/broken')?.ended === true);
    expect(caller.json).toMatchObject({ proxy_error: { status: 400, code: 'invalid_request' } });
    expect(destination.heard('/broken')?.text).not.toMatch(/\r\n0\r\n\r\n$/);
  });
});

it('the sender of a body that grows too large reads a refusal, and is not cut off', async () => {
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
  const caller = call(
    'DELETE /tokens HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n' + chunk.repeat(20),
  );
  await waitFor(() => caller.ended);
  expect(caller.json).toMatchObject({ code: 'payload_too_large' });
});

it('a caller that leaves within its body leaves no request at the destination', async () => {
  const caller = call(`POST /proxy/leaves HTTP/1.1\r\n${streamed}Content-Length: 9\r\n\r\na`);
  await waitFor(() => destination.heard('/leaves') !== undefined);
  caller.socket.destroy();
  await waitFor(() => destination.heard('/leaves')?.ended === true);
});

const inFlight = async (): Promise<number> => {
  const metric = gateway.ctx.registry.getSingleMetric('glovebox_gateway_requests_in_flight');
  return (await metric?.get())?.values[0]?.value ?? Number.NaN;
};

it('callers of HTTP/1.0 that stop sending just when their answer breaks off keep no place and no socket', async () => {
  const before = await inFlight();
  const isOpen = new Set<Socket>();
  gateway.server.on('connection', (socket: Socket) => {
    isOpen.add(socket);
    socket.once('close', () => isOpen.delete(socket));
  });
  for (let nth = 0; nth < 20; nth += 1) {
    const caller = call(`GET /proxy/moment${nth}. HTTP/1.0\r\n${keys}\r\n`);
    await waitFor(() => caller.text.endsWith('1234'));
    caller.socket.end(() => destination.heard(`/moment${nth}.`)?.socket.resetAndDestroy());
  }
  await waitFor(async () => isOpen.size === 0 && (await inFlight()) === before);
});

describe('pipelined calls whose turn never comes', () => {
  it('end when their caller leaves', async () => {
    const before = await inFlight();
    const waiting = `GET /proxy/wait HTTP/1.1\r\n${keys}\r\n`;
    const caller = call(waiting + waiting);
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
    const accepted = once(gateway.server, 'connection') as Promise<[Socket]>;
    const caller = call(`GET /proxy/wait HTTP/1.1\r\n${keys}\r\n`.repeat(calls));
    const [socket] = await accepted;
    const alone = socket.listenerCount('close');
    await waitFor(async () => (await inFlight()) === before + calls);
    expect(socket.listenerCount('close') - alone).toBeLessThanOrEqual(2);
    caller.socket.destroy();
    await waitFor(async () => (await inFlight()) === before);
    expect(socket.listenerCount('close')).toBeLessThanOrEqual(alone);
  });

  it('are dropped behind an answer that ends the connection', async () => {
    const before = await inFlight();
    const two = 'GET /proxy HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n';
    const caller = call(two + `GET /proxy/now HTTP/1.1\r\n${keys}\r\n`.repeat(3));
    await waitFor(() => caller.ended);
    await waitFor(async () => (await inFlight()) === before);
    expect(destination.heard('/now')).toBeUndefined();
  });
});
