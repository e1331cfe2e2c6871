import { Redis } from 'ioredis';
import { AppProcess } from '../processes';
import { call, reactorOf, runningProduct } from '../product';
import { startReceiver, type Receiver } from '../receiver';

const product = runningProduct();
export const worker = new AppProcess(product.pids.worker);
let receiver: Receiver;

const echo = 'module.exports = async ({ args }) => ({ raw: args });';
/** Reports that it has started, then runs for a while. */
const sleepy = `const http = require('http');
module.exports = async ({ args }) => {
  await new Promise((resolve, reject) => {
    http.get(args.started, (answer) => answer.resume().on('end', resolve)).on('error', reject);
  });
  await new Promise((resolve) => setTimeout(resolve, 9000));
  return { raw: args };
};`;

async function accept(reactorId: string, args: Record<string, unknown>): Promise<string> {
  const answer = await call('POST', `${product.baseUrl}/reactors/${reactorId}/react`, {
    key: product.privateKey,
    body: { args, callback_url: `${receiver.url}/hook` },
  });
  expect(answer.status).toBe(202);
  return String(answer.body.async_request_id);
}

/** The webhooks by run id. */
async function webhooksOf(
  ids: readonly string[],
  withinMs: number,
): Promise<Map<string, unknown[]>> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const byRun = new Map<string, unknown[]>();
    for (const { headers, body } of receiver.received) {
      if (headers['webhook-id'] === undefined) continue;
      const id = String(headers['webhook-id']).replace('msg_', '');
      byRun.set(id, [...(byRun.get(id) ?? []), JSON.parse(body)]);
    }
    if (ids.every((id) => byRun.has(id))) return byRun;
    if (Date.now() > deadline) throw new Error(`${byRun.size} of ${ids.length} runs reported`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('async runs', () => {
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.close());
  it('every accepted run is executed and reported although Redis has lost everything', async () => {
    const reactorId = await reactorOf(product, echo);
    worker.signal('SIGSTOP');
    const ids: string[] = [];
    for (let n = 0; n < 100; n += 1) ids.push(await accept(reactorId, { n }));
    const redis = new Redis(product.redisUrl);
    await redis.flushall();
    redis.disconnect();
    worker.signal('SIGCONT');

    const webhooks = await webhooksOf(ids, 30_000);
    expect(ids.map((id) => webhooks.get(id))).toEqual(ids.map((_, n) => [{ raw: { n } }]));
  });

  it('a waiting run survives the death of its worker', async () => {
    const reactorId = await reactorOf(product, echo);
    worker.signal('SIGSTOP');
    const id = await accept(reactorId, { waited: true });
    worker.signal('SIGKILL');
    worker.restart();
    expect((await webhooksOf([id], 30_000)).get(id)).toEqual([{ raw: { waited: true } }]);
  });

  it('a run whose worker dies while its code runs is reported as interrupted, not run twice', async () => {
    const reactorId = await reactorOf(product, sleepy);
    const id = await accept(reactorId, { started: `${receiver.url}/started` });
    await receiver.next();
    worker.signal('SIGKILL');
    worker.restart();
    const webhooks = (await webhooksOf([id], 45_000)).get(id);
    expect(webhooks).toMatchObject([{ code: 'run_interrupted', status: 500 }]);
  });
});
