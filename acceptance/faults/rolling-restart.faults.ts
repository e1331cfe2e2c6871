import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { apps, Replicas, type Replica } from './replicas';
import { startOwnProduct, type OwnProduct } from '../own-product';
import { call, create, reactorOf, until } from '../product';
import { startReceiver, type Receiver } from '../receiver';

const callsMin = 10_000;
const connections = 16;
/** As many, so that each runner has some of them. */
const reactorsCount = 16;
const code = 'module.exports = async ({ args }) => ({ raw: { n: args.n } });';
/** The time in which a new runner has work, and one that is gone has no more. */
const noticedMs = 10_000;

let product: OwnProduct;
let receiver: Receiver;
let replicas: Replicas;
let reactors: readonly string[];
let proxyKey: string;
let calls = 0;
let isOver = false;
const failures: string[] = [];
/** The runs that got a 202. */
const accepted: string[] = [];

beforeAll(async () => {
  product = await startOwnProduct();
  receiver = await startReceiver();
  const proxy = await create(product, '/proxies', {
    name: 'rolling restart',
    destination_url: `${receiver.url}/sink`,
  });
  proxyKey = String(proxy.key);
  reactors = await Promise.all(
    Array.from({ length: reactorsCount }, () => reactorOf(product, code)),
  );
  replicas = await Replicas.replace(product);
}, 180_000);

afterAll(async () => {
  isOver = true;
  await replicas.close();
  await product.stop();
  await receiver.close();
});

interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  readonly status: number;
}

/** Calls of every kind, in turn. */
function callOf(n: number): Call {
  const reactor = reactors[n % reactors.length];
  const react = { method: 'POST', path: `/reactors/${reactor}/react` };
  switch (n % 8) {
    case 0:
      return { method: 'GET', path: '/reactors', status: 200 };
    case 1:
    case 2:
      return { ...react, body: { args: { n } }, status: 200 };
    case 3:
      return {
        ...react,
        body: { args: { n }, callback_url: `${receiver.url}/hook/${n}` },
        status: 202,
      };
    default:
      return { method: 'GET', path: '/proxy', headers: { 'SVC-PROXY-KEY': proxyKey }, status: 200 };
  }
}

/** Keeps one connection to a ready gateway until it is told that it has had its last answer. */
async function keepCalling(): Promise<void> {
  while (!isOver) {
    const ready = replicas.ready('gateway');
    const gateway = ready[Math.floor(Math.random() * ready.length)];
    if (!gateway) throw new Error('no gateway is ready');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let isKept = true;
    while (isKept && !isOver) isKept = await callOnce(gateway.port, agent);
    agent.destroy();
  }
}

async function callOnce(port: number, agent: Agent): Promise<boolean> {
  calls += 1;
  const n = calls;
  const { method, path, headers, body, status } = callOf(n);
  const key = path === '/reactors' ? product.adminKey : product.privateKey;
  try {
    const outgoing = request({
      host: '127.0.0.1',
      port,
      method,
      path,
      agent,
      headers: { 'SVC-API-KEY': key, 'Content-Type': 'application/json', ...headers },
    }).end(body === undefined ? undefined : JSON.stringify(body));
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    const said = await text(answer);
    if (answer.statusCode !== status)
      failures.push(`${path} answered ${answer.statusCode} ${said}`);
    else if (status === 202) accepted.push(`/hook/${n}`);
    return answer.headers.connection !== 'close';
  } catch (error) {
    failures.push(`${path}: ${String(error)}`);
    return false;
  }
}

/** The runs that a runner has had. */
async function runsOf({ opsUrl }: Replica): Promise<number> {
  const { text: metrics } = await call('GET', `${opsUrl}/metrics`);
  const counts = [...metrics.matchAll(/^glovebox_runs_total\{.*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Replaces the oldest process of an app, as a rolling update does. */
async function roll(app: (typeof apps)[number]): Promise<void> {
  const [oldest] = replicas.ready(app);
  if (!oldest) throw new Error(`no ${app} is ready`);
  const added = await replicas.start(app);
  const ended = replicas.retire(oldest);
  if (app === 'runner') {
    const gets = until(async () => (await runsOf(added)) > 0, noticedMs);
    const getsNone = until(async () => {
      const before = await runsOf(oldest);
      const enough = calls + 200;
      await until(() => Promise.resolve(calls > enough));
      return (await runsOf(oldest)) === before;
    }, noticedMs);
    await Promise.all([gets, getsNone]);
  }
  expect([app, await ended]).toEqual([app, 0]);
}

it('no call fails and no run is lost while both processes of each app are replaced in turn, under load', async () => {
  const callers = Array.from({ length: connections }, () => keepCalling());
  for (let round = 0; round < 2 || calls < callsMin; round += 1) {
    for (const app of apps) await roll(app);
  }
  isOver = true;
  await Promise.all(callers);
  expect({ failures, enough: calls >= callsMin }).toEqual({ failures: [], enough: true });
  const delivered = () => new Set(receiver.received.map(({ url }) => url));
  await until(() => Promise.resolve(accepted.every((url) => delivered().has(url))), 60_000);
  expect(accepted.length).toBeGreaterThan(callsMin / 10);
  process.stdout.write(`${calls} calls, ${accepted.length} async runs, none failed or lost\n`);
}, 600_000);
