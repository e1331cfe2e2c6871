import { startDestination, waitFor, type Destination } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';
import { RawCaller } from '../spec-sockets';

let gateway: SpecGateway;
let destination: Destination;
let keys: string;

beforeAll(async () => {
  gateway = await startSpecGateway({ BODY_IDLE_MS: '2000', BUFFERED_BYTES_MAX: '33554432' });
  destination = await startDestination();
  const [key, proxyKey] = await Promise.all([
    gateway.application(['token:use']),
    gateway.proxy(destination.url),
  ]);
  keys = `Host: a\r\nSVC-API-KEY: ${key}\r\nSVC-PROXY-KEY: ${proxyKey}\r\n`;
});
beforeEach(() => {
  destination.requests.length = 0;
});
afterAll(async () => {
  await destination.close();
  await gateway.close();
});

const post = (length: number, begin: string): RawCaller =>
  new RawCaller(
    gateway.port,
    `POST /proxy HTTP/1.1\r\n${keys}Content-Type: application/json\r\n` +
      `Content-Length: ${length}\r\n\r\n${begin}`,
  );

const held = (): number[] => {
  const { calls, bufferedBytes } = gateway.ctx.shares;
  return [calls.state.held, bufferedBytes.state.held];
};

describe('a small body that is scanned', () => {
  it('arrives as it was sent, however many parts it comes in', async () => {
    const token = await gateway.token('4711');
    const body = JSON.stringify({ number: `{{ ${token} }}`, text: 'é'.repeat(40) });
    const bytes = Buffer.from(body).toString('latin1');
    const caller = post(bytes.length, bytes.slice(0, 1));
    for (let at = 1; at < bytes.length; at += 1) {
      const isTaken = caller.socket.write(bytes.slice(at, at + 1), 'latin1');
      expect(isTaken).toBe(true);
      await new Promise(setImmediate);
    }
    await waitFor(() => caller.status === 200);
    expect(String(destination.requests[0]?.body)).toBe(body.replace(/\{\{[^}]*\}\}/, '4711'));
    caller.socket.destroy();
  });

  it('is followed by the next request of its connection', async () => {
    const next = `GET /proxy/next HTTP/1.1\r\n${keys}\r\n`;
    const caller = post(2, `{}${next}`);
    await waitFor(() => destination.requests.length === 2);
    const heard = destination.requests.map(({ method, url, body }) => `${method} ${url} ${body}`);
    expect(heard.sort()).toEqual(['GET /next ', 'POST / {}']);
    await waitFor(() => caller.text.split('HTTP/1.1 200').length === 3);
    caller.socket.destroy();
  });

  it('ends with 408 when the rest of it does not come, and none of it is kept', async () => {
    const caller = post(9, '{');
    await waitFor(() => caller.ended);
    expect(caller.json).toMatchObject({ proxy_error: { status: 408, code: 'invalid_request' } });
    expect([destination.requests.length, ...held()]).toEqual([0, 0, 0]);
  });

  it('leaves nothing behind when its caller goes away', async () => {
    const caller = post(60_000, '{');
    await waitFor(() => (held()[1] ?? 0) >= 60_000);
    caller.socket.destroy();
    await waitFor(() => held().every((count) => count === 0));
    expect(destination.requests).toHaveLength(0);
  });

  it('ends with 429 when its tenant has used up its memory; bodies that others have begun go on', async () => {
    const callers = Array.from({ length: 300 }, () => post(64_000, '{'));
    await waitFor(() => callers.some(({ status }) => status === 429));
    expect(callers.filter(({ text }) => text === '').length).toBeGreaterThan(100);
    for (const { socket } of callers) socket.destroy();
    await waitFor(() => held().every((count) => count === 0));
  });
});
