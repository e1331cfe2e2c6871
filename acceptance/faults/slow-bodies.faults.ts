import { once } from 'node:events';
import { connect } from 'node:net';
import { runningProduct } from '../product';
import { Workshop } from '../transforms/transforming';

const product = runningProduct();
const withinMs = 30_000;
const echo = `return { headers: args.headers, body: args.body };`;

let shop: Workshop;

beforeAll(async () => {
  shop = await Workshop.open(product);
});
afterAll(() => shop.close());

/** Measures the time of a call and returns it with the result. */
async function timed<Result>(work: () => Promise<Result>): Promise<[Result, number]> {
  const begun = performance.now();
  return [await work(), performance.now() - begun];
}

describe('a slow body under a transform', () => {
  it('from the caller ends with 408 after 30 s, and nothing is forwarded', async () => {
    const proxy = await shop.proxy({ request: echo });
    const { hostname, port } = new URL(product.baseUrl);
    const socket = connect(Number(port), hostname);
    const head = [
      'POST /proxy HTTP/1.1',
      'Host: a',
      `SVC-API-KEY: ${product.privateKey}`,
      `SVC-PROXY-KEY: ${proxy.key}`,
      'Content-Type: application/json',
      'Content-Length: 1000',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    const drip = setInterval(() => socket.write(' '), 1_000);
    const [answer, ms] = await timed(async () => String((await once(socket, 'data'))[0]));
    clearInterval(drip);
    socket.destroy();
    expect(answer).toContain('HTTP/1.1 408');
    expect(answer).toContain('proxy_error');
    expect(ms).toBeGreaterThan(withinMs - 1_000);
    expect(ms).toBeLessThan(withinMs + 3_000);
    expect(shop.destination.received).toEqual([]);
  });

  it('from the destination ends with 504 after 30 s', async () => {
    shop.answer = (res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      const drip = setInterval(() => res.write(' '), 1_000);
      res.on('close', () => clearInterval(drip));
    };
    const proxy = await shop.proxy({ response: echo });
    const [answer, ms] = await timed(() => proxy.call({ body: {} }));
    expect(answer).toMatchObject({ status: 504, code: 'destination_timeout' });
    expect(answer.headers.get('svc-proxy-destination-status')).toBe('200');
    expect(ms).toBeGreaterThan(withinMs - 1_000);
    expect(ms).toBeLessThan(withinMs + 3_000);
  });
});
