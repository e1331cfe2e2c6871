import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { call, reactorOf, runningProduct, until } from './product';
import { startReceiver, type Received, type Receiver } from './receiver';

const product = runningProduct();
let reactorId: string;
let receiver: Receiver;
let answer: (response: ServerResponse) => void;

beforeAll(async () => {
  reactorId = await reactorOf(product, 'module.exports = async () => ({ raw: { sum: 5 } });');
});
beforeEach(async () => {
  answer = (response) => response.end();
  receiver = await startReceiver((response) => answer(response));
});
afterEach(() => receiver.close());

const manage = (method: string, path: string, body?: unknown) =>
  call(method, `${product.baseUrl}${path}`, { key: product.adminKey, body });

/** Accepts a run; returns its id, which is that of its webhook. */
async function accept(path = '/hook', reactor = reactorId): Promise<string> {
  const { status, body } = await call('POST', `${product.baseUrl}/reactors/${reactor}/react`, {
    key: product.privateKey,
    body: { callback_url: `${receiver.url}${path}` },
  });
  expect(status).toBe(202);
  return String(body.async_request_id);
}

interface Delivery {
  readonly status: string;
  readonly outcome?: string;
  readonly next_attempt_at?: string;
  readonly attempts: readonly { at: string; ms: number; status?: number; outcome: string }[];
}

async function deliveryWith(id: string, attempts: number): Promise<Delivery> {
  let delivery: Delivery | undefined;
  await until(async () => {
    const { body } = await manage('GET', `/webhook-deliveries/${id}`);
    delivery = body as unknown as Delivery;
    return delivery.attempts.length >= attempts;
  });
  if (!delivery) throw new Error('unreachable');
  return delivery;
}

async function secret(rotate = false): Promise<string> {
  const path = '/tenants/self/webhook-secret';
  const { body } = await (rotate ? manage('POST', `${path}/rotate`) : manage('GET', path));
  return String(body.secret);
}

const isGenuine = ({ body, headers }: Received, key: string, altered = body): boolean => {
  try {
    new Webhook(key).verify(altered, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
};

it('a webhook is verified by the library of Standard Webhooks, with both secrets of a rotation', async () => {
  const before = await secret();
  await accept();
  const first = await receiver.next();
  expect(isGenuine(first, before)).toBe(true);
  expect(isGenuine(first, before, first.body.replace('5', '6'))).toBe(false);
  expect(isGenuine(first, `whsec_${randomBytes(32).toString('base64')}`)).toBe(false);

  const after = await secret(true);
  expect(after).not.toBe(before);
  expect(isGenuine(first, after)).toBe(false);
  await accept();
  const second = await receiver.next();
  expect([before, after].map((key) => isGenuine(second, key))).toEqual([true, true]);
  const stolen = { ...second.headers, 'webhook-id': first.headers['webhook-id'] };
  expect(isGenuine({ ...second, headers: stolen }, after)).toBe(false);
});

/** An endless answer, and how much of it went out. */
function pouring() {
  const poured = { bytes: 0, isClosed: false };
  const pour = (response: ServerResponse): void => {
    const { socket } = response;
    response.writeHead(200, { 'content-length': 1024 ** 3 });
    response.on('close', () => {
      poured.bytes = socket?.bytesWritten ?? 0;
      poured.isClosed = true;
    });
    const write = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    };
    response.on('drain', write);
    write();
  };
  return { poured, pour };
}

it.each<[string, (response: ServerResponse) => void, object]>([
  ['500', (response) => response.writeHead(500).end(), { status: 500, outcome: 'rejected' }],
  [
    'a redirect',
    (response) => response.writeHead(307, { location: `${receiver.url}/elsewhere` }).end(),
    { status: 307, outcome: 'rejected' },
  ],
  ['a reset', (response) => void response.socket?.resetAndDestroy(), { outcome: 'unreachable' }],
  [
    'half a head',
    (response) => void response.socket?.end('HTTP/1.1 200'),
    { outcome: 'unreachable' },
  ],
])(
  'a receiver that answers with %s is tried again, with its own outcome',
  async (_, reply, made) => {
    answer = reply;
    const delivery = await deliveryWith(await accept(), 1);
    const { attempts, next_attempt_at: next = '' } = delivery;
    expect(delivery).toMatchObject({ status: 'pending', attempts: [made] });
    expect('status' in (attempts[0] ?? {})).toBe('status' in made);
    const waitsMs = Date.parse(next) - Date.parse(attempts[0]?.at ?? '');
    expect(waitsMs).toBeGreaterThan(7_000);
    expect(waitsMs).toBeLessThan(13_000);
    expect(receiver.received.map(({ url }) => url)).toEqual(['/hook']);
  },
);

it('the answer of a gibibyte is not read: its webhook is delivered and the connection ends', async () => {
  const { poured, pour } = pouring();
  answer = pour;
  expect(await deliveryWith(await accept(), 1)).toMatchObject({
    status: 'delivered',
    attempts: [{ status: 200, outcome: 'delivered' }],
  });
  await until(() => Promise.resolve(poured.isClosed));
  // The buffers of two sockets hold less than this.
  expect(poured.bytes).toBeLessThan(32 * 1_048_576);
});

it('410 ends a webhook, Retry-After moves its next attempt, a replay sends the same id and body again', async () => {
  answer = (response) => response.writeHead(503, { 'retry-after': '600' }).end();
  const later = await deliveryWith(await accept(), 1);
  const waitsMs = Date.parse(later.next_attempt_at ?? '') - Date.parse(later.attempts[0]?.at ?? '');
  expect(waitsMs).toBeGreaterThan(598_000);
  expect(waitsMs).toBeLessThan(620_000);

  answer = (response) => response.writeHead(410).end();
  const id = await accept('/gone');
  expect(await deliveryWith(id, 1)).toMatchObject({ status: 'failed', outcome: 'rejected' });
  const run = await manage('GET', `/reactors/${reactorId}/runs/${id}`);
  expect(run.body.webhook).toMatchObject({ status: 'failed', attempts: [{ status: 410 }] });

  answer = (response) => response.end();
  expect((await manage('POST', `/webhook-deliveries/${id}/replay`)).body).toEqual({
    matched: 1,
    queued: 1,
    gone: 0,
  });
  expect(await deliveryWith(id, 2)).toMatchObject({
    status: 'delivered',
    attempts: [{ status: 410 }, { status: 200 }],
  });
  const [first, again] = receiver.received.filter(({ url }) => url === '/gone');
  expect(again?.body).toBe(first?.body);
  expect(again?.headers['webhook-id']).toBe(`msg_${id}`);
  expect(first?.headers['webhook-id']).toBe(`msg_${id}`);
});
