import { waitFor } from '@glovebox/testing';
import { startSpecForward, type SpecForward } from '../forward/spec-forward';
import { atAll, entryNames, openEntries, type Entries, type Entry } from '../spec-entries';
import { RawCaller, startRawServer, type RawServer } from '../spec-sockets';

const requestTimeoutMs = 600;
const binary = 'application/octet-stream';
let gateway: SpecForward;
let destination: RawServer;
let entries: Entries;
let callers: RawCaller[] = [];

beforeAll(async () => {
  gateway = await startSpecForward({
    HEADERS_TIMEOUT_MS: '500',
    REQUEST_TIMEOUT_MS: String(requestTimeoutMs),
    BODY_IDLE_MS: '2000',
  });
  destination = await startRawServer((socket, text) => {
    if (text.startsWith('POST /early')) socket.write(answer('early'));
    else if (/0\r\n\r\n$/.test(text)) socket.write(answer('whole'));
  });
  entries = await openEntries(gateway, destination.url);
});
afterEach(() => {
  for (const { socket } of callers) socket.destroy();
  callers = [];
  for (const { socket } of destination.connections.splice(0)) socket.destroy();
});
afterAll(async () => {
  await destination.close();
  await gateway.close();
});

const answer = (body: string): string =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

/** Sends a request whose body comes in parts, one every 50 ms, until it is told to stop. */
async function upload({ call, keys }: Entry, target: string, type: string) {
  const caller = await call(
    `POST ${target} HTTP/1.1\r\n${keys}Content-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`,
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

describe('an upload by every entry', () => {
  it('that keeps moving may take any time, and its connection serves the next call', () =>
    atAll(entries, async (entry) => {
      const { caller, stop, lasts } = await upload(entry, entry.target('/long'), binary);
      await lasts(3 * requestTimeoutMs);
      stop();
      caller.socket.write('0\r\n\r\n');
      await waitFor(() => caller.text.endsWith('\r\n\r\nwhole'));
      expect(caller.status).toBe(200);
      caller.socket.write(
        `POST ${entry.target('/next')} HTTP/1.1\r\n${entry.keys}Content-Type: ${binary}\r\n` +
          'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      );
      await waitFor(() => caller.text.split('\r\n\r\nwhole').length === 3);
    }));

  it('gets 408 when it stands still, however long it has moved before', () =>
    atAll(entries, async (entry) => {
      const { caller, stop, lasts } = await upload(entry, entry.target('/stops'), binary);
      await lasts(2 * requestTimeoutMs);
      stop();
      await waitFor(() => caller.status === 408);
    }));

  it('is not read for ever when its answer is there', () =>
    atAll(entries, async (entry) => {
      const { caller } = await upload(entry, entry.target('/early'), binary);
      await waitFor(() => caller.text.endsWith('\r\n\r\nearly'));
      await waitFor(() => caller.ended);
    }));

  it('is not read for ever when its answer comes late either', () =>
    atAll(entries, async (entry, name) => {
      const path = `/late/${entryNames.indexOf(name)}`;
      const { caller, lasts } = await upload(entry, entry.target(path), binary);
      await lasts(2 * requestTimeoutMs);
      destination.heard(`${path} `)?.socket.write(answer('late'));
      await waitFor(() => caller.text.endsWith('\r\n\r\nlate'));
      await waitFor(() => caller.ended);
    }));

  it('that is read for expressions gets 408 when it drips for longer than a request may take', () =>
    atAll(entries, async (entry) => {
      const { caller } = await upload(entry, entry.target('/json'), 'application/json');
      await waitFor(() => caller.ended);
      expect(caller.status).toBe(408);
    }));
});

it('an upload to the management API gets 408 when it drips for longer than a request may take', async () => {
  const { caller } = await upload(entries['at /proxy'], '/tokens', 'application/json');
  await waitFor(() => caller.ended);
  expect(caller.status).toBe(408);
});
