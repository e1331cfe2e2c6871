import type { ServerResponse } from 'node:http';
import { freePort } from '@glovebox/testing';
import { Client } from 'pg';
import { ready, startOwnProduct, type OwnProduct } from '../own-product';
import { AppProcess } from '../processes';
import { call, create, reactorOf, until } from '../product';
import { startReceiver, type Receiver } from '../receiver';

/** Reports that it has started, and goes on when that is answered. */
const asking = `const http = require('http');
module.exports = async ({ args }) => {
  await new Promise((resolve, reject) => {
    http.get(args.tell, (answer) => answer.resume().on('end', resolve)).on('error', reject);
  });
  return { raw: { card: args.card } };
};`;

let product: OwnProduct;
let postgres: Client;
let locker: Client;
let receiver: Receiver;
let reactorId: string;
let expression: string;
let first: AppProcess;
let second: AppProcess | undefined;
/** The calls that the receiver has not answered yet, by path. */
let held: Map<string, ServerResponse>;

beforeAll(async () => {
  product = await startOwnProduct();
  first = new AppProcess(product.pids.worker);
  // From here on it is a child, whose end can be waited for.
  first.signal('SIGKILL');
  postgres = new Client({ connectionString: product.databaseUrl });
  locker = new Client({ connectionString: product.databaseUrl });
  await Promise.all([postgres.connect(), locker.connect()]);
  reactorId = await reactorOf(product, asking);
  const token = { type: 'token', data: '4242' };
  expression = `{{ ${(await create(product, '/tokens', token, product.privateKey)).id} }}`;
});

afterAll(async () => {
  await Promise.all([postgres.end(), locker.end()]);
  await product.stop();
});

beforeEach(async () => {
  held = new Map();
  receiver = await startReceiver((res, { url }) => {
    if (url.endsWith('/held')) held.set(url, res);
    else res.end();
  });
  first.restart();
  await ready(product.opsUrls.worker);
});

afterEach(async () => {
  await Promise.all([first.end(), second?.end()]);
  await receiver.close();
});

/** Starts a worker beside the first one. */
async function startSecond(): Promise<void> {
  const opsPort = String(await freePort());
  second = first.another((own) => ({ ...own, OPS_PORT: opsPort }));
  await ready(`http://127.0.0.1:${opsPort}`);
}

async function accept(tell: string, hook: string): Promise<string> {
  const answer = await call('POST', `${product.baseUrl}/reactors/${reactorId}/react`, {
    key: product.privateKey,
    body: {
      args: { card: expression, tell: `${receiver.url}${tell}` },
      callback_url: `${receiver.url}${hook}`,
      timeout_ms: 60_000,
    },
  });
  expect(answer.status).toBe(202);
  return String(answer.body.async_request_id);
}

const came = (path: string) => receiver.received.filter(({ url }) => url === path);
const comes = (path: string, withinMs = 10_000): Promise<void> =>
  until(() => Promise.resolve(came(path).length > 0), withinMs);

interface Row {
  readonly row: string;
  readonly status: string;
  readonly tries: number;
}

/** The rows of a run and of its webhook, wherever they are. */
async function rowsOf(id: string): Promise<Row[]> {
  const { rows } = await postgres.query<Row>(
    `SELECT 'run' AS row, status, fence::int AS tries FROM reactor_runs WHERE id = $1
     UNION ALL SELECT 'ended run', outcome, attempt FROM ended_runs WHERE id = $1
     UNION ALL SELECT 'webhook', status, attempts FROM webhook_deliveries WHERE id = $1
     UNION ALL SELECT 'ended webhook', status, jsonb_array_length(attempt_log)
       FROM ended_deliveries WHERE id = $1`,
    [id],
  );
  return rows;
}

const untilDelivered = (id: string): Promise<void> =>
  until(async () => (await rowsOf(id)).some(({ row }) => row === 'ended webhook'));

/** Continues the first worker, and lets it do what it still means to do. */
async function continueToTheEnd(): Promise<void> {
  first.signal('SIGCONT');
  first.signal('SIGTERM');
  expect(await first.exit()).toBe(0);
}

describe('a worker that was stopped for longer than its lease', () => {
  it('before the code of its run starts no code and writes nothing: another worker runs it', async () => {
    first.signal('SIGSTOP');
    const id = await accept('/started/held', '/hook');
    await locker.query('BEGIN');
    await locker.query('LOCK TABLE tokens IN ACCESS EXCLUSIVE MODE');
    first.signal('SIGCONT');
    await until(async () => {
      const { rows } = await postgres.query(
        `SELECT 1 FROM pg_stat_activity, reactor_runs WHERE application_name = 'worker'
           AND wait_event_type = 'Lock' AND reactor_runs.status = 'running'`,
      );
      return rows.length > 0;
    });
    first.signal('SIGSTOP');
    await locker.query('ROLLBACK');

    await startSecond();
    await comes('/started/held', 40_000);
    await continueToTheEnd();
    held.get('/started/held')?.end();
    await comes('/hook');
    expect(came('/hook').map(({ body }) => body)).toEqual(['{"raw":{"card":"4242"}}']);
    expect(came('/started/held')).toHaveLength(1);
    await untilDelivered(id);
    expect(await rowsOf(id)).toEqual([
      { row: 'ended run', status: 'completed', tries: 2 },
      { row: 'ended webhook', status: 'delivered', tries: 1 },
    ]);
  });

  it('while the code of its run goes on drops the late end: the run was reported as interrupted', async () => {
    const id = await accept('/started/held', '/hook');
    await comes('/started/held');
    first.signal('SIGSTOP');
    await startSecond();
    await comes('/hook', 40_000);
    held.get('/started/held')?.end();
    await continueToTheEnd();
    expect(came('/hook').map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      expect.objectContaining({ code: 'run_interrupted', status: 500 }),
    ]);
    expect(came('/started/held')).toHaveLength(1);
    await untilDelivered(id);
    expect(await rowsOf(id)).toEqual([
      { row: 'ended run', status: 'run_interrupted', tries: 2 },
      { row: 'ended webhook', status: 'delivered', tries: 1 },
    ]);
  });
});

it('a worker that is told to stop claims nothing more and finishes what it has; the next one finds the rest', async () => {
  const running = await accept('/running/held', '/hook-of-running');
  const sending = await accept('/sending', '/hook-of-sending/held');
  await comes('/running/held');
  await comes('/hook-of-sending/held');
  first.signal('SIGTERM');
  await until(async () => {
    const { status } = await call('GET', `${product.opsUrls.worker}/health/ready`);
    return status === 503;
  });
  const waiting = await accept('/waiting', '/hook-of-waiting');
  held.get('/hook-of-sending/held')?.end();
  await untilDelivered(sending);
  held.get('/running/held')?.end();
  expect(await first.exit()).toBe(0);

  expect(await rowsOf(sending)).toEqual([
    { row: 'ended run', status: 'completed', tries: 1 },
    { row: 'ended webhook', status: 'delivered', tries: 1 },
  ]);
  expect(await rowsOf(running)).toEqual([
    { row: 'ended run', status: 'completed', tries: 1 },
    { row: 'webhook', status: 'pending', tries: 0 },
  ]);
  expect(await rowsOf(waiting)).toEqual([{ row: 'run', status: 'pending', tries: 0 }]);

  await startSecond();
  await Promise.all([comes('/hook-of-running'), comes('/hook-of-waiting')]);
  for (const path of ['/running/held', '/sending', '/waiting']) expect(came(path)).toHaveLength(1);
});
