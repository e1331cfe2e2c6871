import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { startDestination, startRunner, waitFor, type Destination } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from './spec-gateway';

let gateway: SpecGateway;
let destination: Destination;
let headers: Record<string, string>;
let release: (() => void) | undefined;

async function start(stopDelayMs: number, more: Record<string, string> = {}): Promise<void> {
  gateway = await startSpecGateway({ STOP_DELAY_MS: String(stopDelayMs), ...more });
  destination = await startDestination((received, response) => {
    if (received.url === '/slow') release = () => response.end('late');
    else response.end('ok');
  });
  headers = {
    'SVC-API-KEY': await gateway.application(['token:use']),
    'SVC-PROXY-KEY': await gateway.proxy(destination.url),
  };
}

afterEach(async () => {
  await destination.close();
  await gateway.close();
});

async function call(path: string, agent?: Agent): Promise<[number | undefined, IncomingMessage]> {
  const outgoing = request(`${gateway.url}${path}`, { headers, ...(agent ? { agent } : {}) }).end();
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  return [answer.statusCode, answer];
}

const readiness = async (base: string): Promise<number> =>
  (await fetch(`${base}/health/ready`)).status;

function accepts(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(gateway.port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/** Calls over one kept connection until it is told that an answer was the last. */
async function callUntilToldToGo(path: string): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let calls = 1; ; calls += 1) {
    const [status, answer] = await call(path, agent);
    expect(status).toBe(200);
    if (answer.headers.connection !== 'close') continue;
    agent.destroy();
    return calls;
  }
}

it('no call fails while the gateway stops: each kept connection is served until it is told to close', async () => {
  await start(400);
  const paths = ['/proxy/a', '/proxy/b', '/tokens', '/health/live'];
  const callers = Array.from({ length: 20 }, (_, n) => callUntilToldToGo(paths[n % 4] ?? ''));
  await waitFor(() => destination.requests.length > 50);
  const stopped = gateway.stop();
  const calls = await Promise.all(callers);
  expect(calls.every((count) => count > 1)).toBe(true);
  await stopped;
});

it('a stopping gateway reports at once that it is not ready, and serves for STOP_DELAY_MS', async () => {
  // Long enough for everything below, however busy the machine is.
  await start(5_000);
  expect(await readiness(gateway.opsUrl)).toBe(200);
  const stopped = gateway.stop();
  expect(await readiness(gateway.opsUrl)).toBe(503);
  expect((await call('/proxy'))[0]).toBe(200);
  const answer = await fetch(`${gateway.url}/health/ready`);
  expect([answer.status, await answer.json()]).toMatchObject([
    503,
    { components: { gateway: 'stopping' } },
  ]);
  await stopped;
  expect(await accepts()).toBe(false);
});

it('a call in flight gets its answer while a stopping gateway accepts nothing new', async () => {
  await start(0);
  const slow = call('/proxy/slow', new Agent({ keepAlive: true }));
  await waitFor(() => release !== undefined);
  const stopped = gateway.stop();
  await waitFor(async () => !(await accepts()));
  release?.();
  const [status, { headers: answered }] = await slow;
  expect([status, answered.connection]).toEqual([200, 'close']);
  await stopped;
});

it('the log of runs has those whose lines are still being redacted when the gateway stops', async () => {
  const runner = await startRunner();
  await start(0, { RUNNER_URLS: runner.url, RUNNER_SECRET: runner.secret });
  const id = await gateway.reactor(
    [],
    `module.exports = () => new Promise((resolve) => setTimeout(() => {
      console.log('a'.repeat(60_000)); resolve({}) }, 300))`,
  );
  // Each text has to be looked for in the line, and nearly begins anywhere in it.
  const texts = Array.from({ length: 900 }, (_, n) => `${'a'.repeat(1_000)}${n}`);
  const react = (): Promise<Response> =>
    fetch(`${gateway.url}/reactors/${id}/react`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ args: { texts } }),
    });
  try {
    const calls = [react(), react(), react()];
    await waitFor(() => gateway.ctx.shares.calls.state.held === 3);
    const stopped = gateway.stop();
    for (const call of calls) expect((await call).status).toBe(200);
    await stopped;
    expect(await gateway.asAdmin('SELECT id FROM ended_runs')).toHaveLength(3);
  } finally {
    await runner.stop();
  }
});
