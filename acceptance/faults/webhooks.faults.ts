import type { ServerResponse } from 'node:http';
import { freePort } from '@glovebox/testing';
import { AppProcess } from '../processes';
import { call, reactorOf, runningProduct, until } from '../product';
import { startReceiver, type Receiver } from '../receiver';

const product = runningProduct();
const worker = new AppProcess(product.pids.worker);
const receiverDeliveriesMax = 10;

let reactorId: string;
let receiver: Receiver;
/** Requests that wait for their answer, the oldest first. */
let open: ServerResponse[];
let openMost: number;

beforeAll(async () => {
  reactorId = await reactorOf(product, 'module.exports = async ({ args }) => ({ raw: args });');
});
beforeEach(async () => {
  open = [];
  openMost = 0;
  receiver = await startReceiver((response) => {
    response.on('close', () => {
      open = open.filter((one) => one !== response);
    });
    open.push(response);
    openMost = Math.max(openMost, open.length);
  });
});
afterEach(() => receiver.close());

async function accept(callbackUrl: string): Promise<string> {
  const { status, body } = await call('POST', `${product.baseUrl}/reactors/${reactorId}/react`, {
    key: product.privateKey,
    body: { callback_url: callbackUrl },
  });
  expect(status).toBe(202);
  return String(body.async_request_id);
}

async function acceptMany(count: number): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let nth = 0; nth < count; nth += 1) ids.add(await accept(`${receiver.url}/many`));
  return ids;
}

/** Starts one more worker; tells how many webhooks it has delivered. */
async function anotherWorker() {
  const opsPort = String(await freePort());
  const another = worker.another((own) => ({ ...own, OPS_PORT: opsPort }));
  const get = (path: string) => call('GET', `http://127.0.0.1:${opsPort}${path}`);
  await until(async () => (await get('/health/ready')).status === 200, 30_000);
  return {
    process: another,
    async delivered(): Promise<number> {
      const { text } = await get('/metrics');
      const found = /^glovebox_worker_deliveries_total\{status="delivered".*\} (\d+)$/m.exec(text);
      return Number(found?.[1] ?? 0);
    },
  };
}

const deliveredOf = (ids: ReadonlySet<string>) => {
  const came = receiver.received.map(({ headers }) => String(headers['webhook-id']).slice(4));
  return new Set(came.filter((id) => ids.has(id)));
};

/** Answers whatever comes, once as much is open as may be, or nothing more comes for a moment. */
async function answerAll(ids: ReadonlySet<string>, withinMs: number): Promise<void> {
  let seen = 0;
  let quietSince = performance.now();
  await until(() => {
    if (receiver.received.length !== seen) quietSince = performance.now();
    seen = receiver.received.length;
    const isFull = open.length >= receiverDeliveriesMax;
    if (isFull || performance.now() - quietSince > 300) open.shift()?.end();
    return Promise.resolve(deliveredOf(ids).size === ids.size && open.length === 0);
  }, withinMs);
}

it('a receiver has ten webhooks of a tenant open at most, although two workers send them', async () => {
  const another = await anotherWorker();
  try {
    // Each opens five while the other is stopped, so that both take part.
    worker.signal('SIGSTOP');
    const ids = await acceptMany(5);
    await until(() => Promise.resolve(open.length === 5), 20_000);
    another.process.signal('SIGSTOP');
    worker.signal('SIGCONT');
    for (const id of await acceptMany(75)) ids.add(id);
    await until(() => Promise.resolve(open.length === receiverDeliveriesMax), 20_000);
    another.process.signal('SIGCONT');
    await answerAll(ids, 60_000);
    expect(openMost).toBe(receiverDeliveriesMax);
    const byOther = await another.delivered();
    expect(byOther).toBeGreaterThanOrEqual(5);
    expect(byOther).toBeLessThanOrEqual(75);
  } finally {
    // A failure above may have left one of them stopped.
    for (const stopped of [worker, another.process]) stopped.signal('SIGCONT');
    await another.process.end();
  }
});

it('a worker that is killed frees its places after the time of a claim, and its webhooks come again', async () => {
  worker.signal('SIGSTOP');
  const another = await anotherWorker();
  const ids = await acceptMany(25);
  await until(() => Promise.resolve(open.length === receiverDeliveriesMax), 20_000);
  const killedAt = performance.now();
  another.process.signal('SIGKILL');
  await until(() => Promise.resolve(open.length === 0));
  worker.signal('SIGCONT');
  const sentBefore = receiver.received.length;
  await until(() => Promise.resolve(receiver.received.length > sentBefore), 60_000);
  expect(performance.now() - killedAt).toBeLessThan(35_000);
  await answerAll(ids, 60_000);
  expect(openMost).toBe(receiverDeliveriesMax);
}, 150_000);

it('receivers that are silent or drip use up the time of an attempt, and hold up nothing else', async () => {
  const drip = (response: ServerResponse, write: () => void): void => {
    const dripping = setInterval(write, 100);
    response.on('close', () => clearInterval(dripping));
  };
  const hostile = await startReceiver((response, { url }) => {
    const { socket } = response;
    if (url === '/body') {
      response.writeHead(200);
      drip(response, () => response.write('.'));
    } else if (url === '/head') {
      socket?.write('HTTP/1.1 200 OK\r\nx: ');
      drip(response, () => socket?.write('x'));
    }
  });
  const [silent, head, body] = [
    await accept(`${hostile.url}/silent`),
    await accept(`${hostile.url}/head`),
    await accept(`${hostile.url}/body`),
  ];
  await until(() => Promise.resolve(hostile.received.length === 3));
  for (let nth = 0; nth < 10; nth += 1) {
    const id = await accept(`${receiver.url}/prompt`);
    const acceptedAt = performance.now();
    await until(() => Promise.resolve(deliveredOf(new Set([id])).size === 1));
    expect(performance.now() - acceptedAt).toBeLessThan(1_000);
    for (const response of open) response.end();
  }
  const attemptOf = async (id: string): Promise<Record<string, unknown> | undefined> => {
    const answer = await call('GET', `${product.baseUrl}/webhook-deliveries/${id}`, {
      key: product.adminKey,
    });
    return (answer.body.attempts as Record<string, unknown>[])[0];
  };
  await until(async () => {
    const made = await Promise.all([silent, head, body].map(attemptOf));
    return made.every((attempt) => attempt !== undefined);
  }, 30_000);
  for (const id of [silent, head]) {
    const attempt = await attemptOf(id);
    expect(attempt).toMatchObject({ outcome: 'timed_out' });
    expect(attempt).not.toHaveProperty('status');
    expect(attempt?.ms).toBeGreaterThanOrEqual(14_900);
    expect(attempt?.ms).toBeLessThan(20_000);
  }
  // The answer counts from its head on.
  expect(await attemptOf(body)).toMatchObject({ outcome: 'delivered', status: 200 });
  await hostile.close();
});
