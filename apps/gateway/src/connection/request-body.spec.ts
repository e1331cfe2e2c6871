import { connect } from 'node:net';
import { startDestination, waitFor, type Destination } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';

const bufferMax = 1024 * 1024;
const oneRead = 64 * 1024;
let gateway: SpecGateway;
let destination: Destination;
let keys: string;

beforeAll(async () => {
  gateway = await startSpecGateway({ PROXY_BUFFER_MAX: String(bufferMax), BODY_IDLE_MS: '2000' });
  destination = await startDestination();
  const key = await gateway.application(['token:use']);
  const proxyKey = await gateway.proxy(destination.url);
  keys = `Host: a\r\nSVC-API-KEY: ${key}\r\nSVC-PROXY-KEY: ${proxyKey}\r\nConnection: close\r\n`;
});
beforeEach(() => {
  destination.requests.length = 0;
});
afterAll(async () => {
  await destination.close();
  await gateway.close();
});

/** Sends head and body in one write. Returns the status. */
async function send(bytes: number, framing: 'length' | 'chunks'): Promise<number> {
  const body = `"${'x'.repeat(bytes - 2)}"`;
  const framed =
    framing === 'length'
      ? `Content-Length: ${bytes}\r\n\r\n${body}`
      : `Transfer-Encoding: chunked\r\n\r\n${bytes.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const socket = connect(gateway.port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  socket.write(`POST /proxy HTTP/1.1\r\n${keys}Content-Type: application/json\r\n${framed}`);
  await waitFor(() => socket.closed);
  return Number(text.slice(9, 12));
}

describe.each(['length', 'chunks'] as const)('a body framed by %s', (framing) => {
  it.each([0, 1, 1_000, oneRead])(
    'that is %i bytes larger than PROXY_BUFFER_MAX is passed on whole, whichever read crosses it',
    async (more) => {
      const sizes = Array.from({ length: 4 }, () => bufferMax + more);
      const statuses: number[] = [];
      for (const bytes of sizes) statuses.push(await send(bytes, framing));
      expect(statuses).toEqual(sizes.map(() => 200));
      expect(destination.requests.map(({ body }) => body.length)).toEqual(sizes);
    },
  );
});
