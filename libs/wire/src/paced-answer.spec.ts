import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { waitFor } from '@glovebox/testing';
import { PacedAnswer, type Pace } from './paced-answer';

const bytes = Buffer.alloc(64 * 1024 * 1024, 'x');
const longMs = 60_000;

let server: Server;
let pace: Pace;
/** The last answer, and what became of it. */
let response: ServerResponse | undefined;
let outcome: string;

beforeAll(async () => {
  server = createServer((_, res) => {
    response = res;
    const paced = new PacedAnswer(res, pace);
    paced
      .write(bytes)
      .then(() => paced.end())
      .then(
        () => (outcome = 'taken'),
        (error: Error) => (outcome = error.message),
      );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());

function ask(wanted: Pace): Socket {
  pace = wanted;
  outcome = '';
  response = undefined;
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1').pause();
  socket.on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  return socket;
}

const left = 'The caller left before its answer.';

describe('an answer that is written as its caller reads it', () => {
  it('reaches a caller that reads, whole', async () => {
    const socket = ask({ idleMs: longMs, wholeMs: longMs });
    let read = 0;
    socket.on('data', (part) => (read += part.length)).resume();
    await once(socket, 'close');
    expect(outcome).toBe('taken');
    expect(read).toBeGreaterThan(bytes.length);
  });

  it('holds one part in memory while its caller reads nothing, and ends after the pause that is allowed', async () => {
    const socket = ask({ idleMs: 300, wholeMs: longMs });
    let most = 0;
    await waitFor(() => {
      most = Math.max(most, response?.writableLength ?? 0);
      return outcome !== '';
    });
    expect(outcome).toBe(left);
    expect(response?.destroyed).toBe(true);
    expect(most).toBeLessThan(256 * 1024);
    socket.destroy();
  });

  it('ends after its time for a caller that reads slowly and never pauses', async () => {
    const socket = ask({ idleMs: longMs, wholeMs: 300 });
    const sip = setInterval(() => socket.read(100_000), 20);
    await waitFor(() => outcome !== '');
    clearInterval(sip);
    expect(outcome).toBe(left);
    socket.destroy();
  });

  it('stops when its caller leaves', async () => {
    const socket = ask({ idleMs: longMs, wholeMs: longMs });
    await waitFor(() => response?.headersSent === true);
    socket.destroy();
    await waitFor(() => outcome === left);
  });
});
