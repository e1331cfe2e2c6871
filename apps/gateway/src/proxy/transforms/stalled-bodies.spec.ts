import { waitFor } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../../spec-gateway';
import { RawCaller } from '../../spec-sockets';
import { transformedWithinMs } from './content';

const idleMs = 1_000;
const declaredBytes = 1_000;
let gateway: SpecGateway;
let keys: string;

beforeAll(async () => {
  gateway = await startSpecGateway({ BODY_IDLE_MS: String(idleMs) });
  const mask = { path: '$.number', expression: '****' };
  const [key, proxyKey] = await Promise.all([
    gateway.application(['token:use']),
    gateway.proxy('http://127.0.0.1:1', { requestSteps: [{ type: 'mask', options: mask }] }),
  ]);
  keys = `Host: a\r\nSVC-API-KEY: ${key}\r\nSVC-PROXY-KEY: ${proxyKey}\r\n`;
});
afterAll(() => gateway.close());

/** Begins a call whose small body goes through a step. Nothing of the body is sent yet. */
const begin = (): RawCaller =>
  new RawCaller(
    gateway.port,
    `POST /proxy HTTP/1.1\r\n${keys}Content-Type: application/json\r\n` +
      `Content-Length: ${declaredBytes}\r\n\r\n`,
  );

/** The time until the call has ended with 408, after which nothing of it is kept. */
async function refusedAfterMs(caller: RawCaller, startedAt: number): Promise<number> {
  await waitFor(() => caller.ended, { timeoutMs: 2 * transformedWithinMs });
  const tookMs = performance.now() - startedAt;
  expect(caller.json).toMatchObject({ proxy_error: { status: 408, code: 'invalid_request' } });
  return tookMs;
}

function expectNothingKept(): void {
  const { calls, bufferedBytes } = gateway.ctx.shares;
  expect([calls.state.held, bufferedBytes.state.held]).toEqual([0, 0]);
}

describe('a small body under a transform ends with 408', () => {
  it.each(['', '{"a":'])('when nothing comes after %j', async (first) => {
    const startedAt = performance.now();
    const caller = begin();
    caller.socket.write(first);
    const tookMs = await refusedAfterMs(caller, startedAt);
    expect(tookMs).toBeGreaterThanOrEqual(idleMs - 1);
    expect(tookMs).toBeLessThan(transformedWithinMs / 2);
    expectNothingKept();
  });
});
