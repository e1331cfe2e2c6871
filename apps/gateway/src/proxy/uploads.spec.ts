import { waitFor } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';
import { RawCaller, startRawServer, type RawServer } from '../spec-sockets';

const requestTimeoutMs = 600;
const binary = 'application/octet-stream';
let gateway: SpecGateway;
let destination: RawServer;
let key: string;
let proxyKey: string;
let callers: RawCaller[] = [];

beforeAll(async () => {
  gateway = await startSpecGateway({
    HEADERS_TIMEOUT_MS: '500',
    REQUEST_TIMEOUT_MS: String(requestTimeoutMs),
    BODY_IDLE_MS: '2000',
  });
  destination = await startRawServer((socket, text) => {
    if (text.startsWith('POST /early')) socket.write(answer('early'));
    else if (/0\r\n\r\n$/.test(text)) socket.write(answer('whole'));
  });
  key = await gateway.application(['token:use']);
  proxyKey = await gateway.proxy(destination.url);
});
afterEach(() => {
  for (const { socket } of callers) socket.destroy();
  callers = [];
});
afterAll(async () => {
  await destination.close();
  await gateway.close();
});

const answer = (body: string): string =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

/** Sends a request whose body comes in parts, one every 50 ms, until it is told to stop. */
function upload(path: string, type: string) {
  const caller = new RawCaller(
    gateway.port,
    `POST ${path} HTTP/1.1\r\nHost: a\r\nSVC-API-KEY: ${key}\r\nSVC-PROXY-KEY: ${proxyKey}\r\n` +
      `Content-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  callers.push(caller);
  const startedAt = performance.now();
  const timer = setInterval(() => caller.socket.write('1\r\n \r\n'), 50);
  caller.socket.once('close', () => clearInterval(timer));
  return {
    caller,
    stop: () => clearInterval(timer),
    lasts: (ms: number) => waitFor(() => performance.now() > startedAt + ms),
  };
}

describe('an upload through a proxy', () => {
  it('that keeps moving may take any time, and its connection serves the next call', async () => {
    const { caller, stop, lasts } = upload('/proxy/long', binary);
    await lasts(3 * requestTimeoutMs);
    stop();
    caller.socket.write('0\r\n\r\n');
    await waitFor(() => caller.text.endsWith('\r\n\r\nwhole'));
    expect(caller.status).toBe(200);
    caller.socket.write(
      `POST /proxy/next HTTP/1.1\r\nHost: a\r\nSVC-API-KEY: ${key}\r\n` +
        `SVC-PROXY-KEY: ${proxyKey}\r\nContent-Type: ${binary}\r\n` +
        'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    );
    await waitFor(() => caller.text.split('\r\n\r\nwhole').length === 3);
  });

  it('gets 408 when it stands still, however long it has moved before', async () => {
    const { caller, stop, lasts } = upload('/proxy/stops', binary);
    await lasts(2 * requestTimeoutMs);
    stop();
    await waitFor(() => caller.status === 408);
  });

  it('is not read for ever when its answer is there', async () => {
    const { caller } = upload('/proxy/early', binary);
    await waitFor(() => caller.text.endsWith('\r\n\r\nearly'));
    await waitFor(() => caller.ended);
  });

  it('is not read for ever when its answer comes late either', async () => {
    const { caller, lasts } = upload('/proxy/late', binary);
    await lasts(2 * requestTimeoutMs);
    destination.heard('/late')?.socket.write(answer('late'));
    await waitFor(() => caller.text.endsWith('\r\n\r\nlate'));
    await waitFor(() => caller.ended);
  });
});

it.each([
  ['a body that is read for expressions', '/proxy/json', 'application/json'],
  ['what the management API gets', '/tokens', 'application/json'],
])('%s gets 408 when it drips for longer than a request may take', async (_, path, type) => {
  const { caller } = upload(path, type);
  await waitFor(() => caller.ended);
  expect(caller.status).toBe(408);
});
