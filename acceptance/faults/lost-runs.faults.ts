import { Redis } from 'ioredis';
import { Client } from 'pg';
import { ready, startOwnProduct, type OwnProduct } from '../own-product';
import { AppProcess } from '../processes';
import { call, reactorOf, until } from '../product';
import { startReceiver, type Receiver } from '../receiver';

const runsMin = 1_000;
const callersMax = 8;
/** One webhook of so many is refused at first, so that it is sent again. */
const refusedOf = 20;

/** Reports its start by the argument of the run, then takes a little while. */
const code = `const http = require('http');
module.exports = async ({ args }) => {
  await new Promise((resolve, reject) => {
    http.get(args.started, (answer) => answer.resume().on('end', resolve)).on('error', reject);
  });
  await new Promise((resolve) => setTimeout(resolve, args.n % 10 * 10));
  return { raw: { n: args.n } };
};`;

type App = 'worker' | 'gateway' | 'runner';

let product: OwnProduct;
let apps: Record<App, AppProcess>;
let postgres: Client;
let receiver: Receiver;
let reactorId: string;

/** The runs that got a 202. */
const accepted = new Set<string>();
let calls = 0;

beforeAll(async () => {
  product = await startOwnProduct();
  apps = {
    worker: new AppProcess(product.pids.worker),
    gateway: new AppProcess(product.pids.gateway),
    runner: new AppProcess(product.pids.runner),
  };
  postgres = new Client({ connectionString: product.databaseUrl });
  await postgres.connect();
  const refused = new Set<string>();
  receiver = await startReceiver((res, { url }) => {
    const isRefused = url.endsWith(`${refusedOf}/hook`) && !refused.has(url);
    if (isRefused) refused.add(url);
    res.writeHead(isRefused ? 503 : 200).end();
  });
  reactorId = await reactorOf(product, code);
});

afterAll(async () => {
  await Promise.all(Object.values(apps).map((app) => app.end()));
  await postgres.end();
  await product.stop();
  await receiver.close();
});

async function accept(): Promise<void> {
  calls += 1;
  const n = calls;
  const answer = await call('POST', `${product.baseUrl}/reactors/${reactorId}/react`, {
    key: product.privateKey,
    body: {
      args: { n, started: `${receiver.url}/started/${n}` },
      callback_url: `${receiver.url}/${n}/of/${n % refusedOf === 0 ? refusedOf : 1}/hook`,
    },
  });
  if (answer.status === 202) accepted.add(String(answer.body.async_request_id));
}

/** Calls until enough runs were accepted. A call that fails promises nothing. */
async function keepAccepting(): Promise<void> {
  while (accepted.size < runsMin) {
    await accept().catch(() => ready(product.opsUrls.gateway).catch(() => undefined));
  }
}

async function killAndRestart(app: App): Promise<void> {
  apps[app].signal('SIGKILL');
  apps[app].restart();
  await ready(product.opsUrls[app]);
}

async function flushRedis(): Promise<void> {
  const redis = new Redis(product.redisUrl);
  await redis.flushall();
  redis.disconnect();
}

/** Breaks one part after the other while runs are accepted, in even parts of them. */
async function breakAll(): Promise<void> {
  const round: (() => Promise<void>)[] = [
    () => killAndRestart('worker'),
    () => killAndRestart('gateway'),
    () => killAndRestart('runner'),
    flushRedis,
    () => killAndRestart('worker'),
    () => killAndRestart('runner'),
  ];
  const faults = [...round, ...round];
  for (const [nth, fault] of faults.entries()) {
    const share = (runsMin * (nth + 1)) / (faults.length + 1);
    await until(() => Promise.resolve(accepted.size >= share), 120_000);
    await fault();
  }
}

/** The webhooks that arrived, by run, each with the bodies of all tries. */
function webhooks(): Map<string, Set<string>> {
  const byRun = new Map<string, Set<string>>();
  for (const { headers, body } of receiver.received) {
    const id = headers['webhook-id'];
    if (typeof id !== 'string') continue;
    const runId = id.replace('msg_', '');
    byRun.set(runId, (byRun.get(runId) ?? new Set()).add(body));
  }
  return byRun;
}

/** All runs that the reactor lists, from one part to the next. */
async function listedRuns(): Promise<{ id: string; status: string; outcome: string }[]> {
  const runs: Awaited<ReturnType<typeof listedRuns>> = [];
  for (let after = ''; ;) {
    const url = `${product.baseUrl}/reactors/${reactorId}/runs?size=100${after}`;
    const { body } = await call('GET', url, { key: product.adminKey });
    const { data, pagination } = body as {
      data: typeof runs;
      pagination: { after?: string };
    };
    runs.push(...data);
    if (pagination.after === undefined) return runs;
    after = `&after=${pagination.after}`;
  }
}

const count = async (from: string): Promise<number> =>
  Number((await postgres.query<{ count: string }>(`SELECT count(*) FROM ${from}`)).rows[0]?.count);

it('1,000 accepted runs are each reported once although worker, gateway and runner are killed in turn and Redis is emptied twice', async () => {
  await Promise.all([breakAll(), ...Array.from({ length: callersMax }, keepAccepting)]);
  await until(async () => (await count('reactor_runs')) === 0, 240_000);
  await until(async () => (await count('webhook_deliveries')) === 0, 120_000);

  const reported = webhooks();
  expect([...accepted].filter((id) => !reported.has(id))).toEqual([]);
  expect([...reported.values()].filter((bodies) => bodies.size !== 1)).toEqual([]);

  const starts = receiver.received.map(({ url }) => url).filter((url) => /^\/started/.test(url));
  expect(starts.filter((url, at) => starts.indexOf(url) !== at)).toEqual([]);

  const listed = await listedRuns();
  expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length);
  // A run whose 202 was lost with its gateway is there as well.
  expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(reported.keys()));
  expect(await count('ended_runs')).toBe(listed.length);
  expect(await count(`ended_deliveries WHERE status = 'delivered'`)).toBe(listed.length);

  const outcomes: Record<string, number> = {};
  for (const { outcome } of listed) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  const tries = receiver.received.filter(({ headers }) => 'webhook-id' in headers).length;
  process.stdout.write(
    `accepted ${accepted.size} of ${calls} calls, ${listed.length} runs ended ${JSON.stringify(outcomes)}, ` +
      `${starts.length} starts, ${tries} webhooks sent\n`,
  );
}, 900_000);
