import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { freePort } from '@glovebox/testing';
import { AppProcess } from '../processes';
import { call, create, runningProduct } from '../product';
import { startReceiver, type Receiver } from '../receiver';

const product = runningProduct();
const callsMin = 10_000;
const connections = 16;

/** A gateway beside the one of the product, which the test may end. */
interface Replica {
  readonly process: AppProcess;
  readonly port: number;
  readonly opsPort: number;
  isReady: boolean;
}

let receiver: Receiver;
let replicas: Replica[] = [];
let headers: Record<string, string>;
const failures: string[] = [];
let calls = 0;
let isOver = false;

beforeAll(async () => {
  receiver = await startReceiver();
  const proxy = await create(product, '/proxies', {
    name: 'rolling restart',
    destination_url: `${receiver.url}/sink`,
  });
  headers = { 'SVC-API-KEY': product.privateKey, 'SVC-PROXY-KEY': String(proxy.key) };
});

afterAll(async () => {
  isOver = true;
  await Promise.all(replicas.map((replica) => replica.process.end()));
  await receiver.close();
});

async function startReplica(): Promise<Replica> {
  const replica = {
    process: new AppProcess(product.pids.gateway),
    port: await freePort(),
    opsPort: await freePort(),
    isReady: false,
  };
  replica.process.restart({
    PORT: String(replica.port),
    OPS_PORT: String(replica.opsPort),
    STOP_DELAY_MS: '1000',
  });
  replicas.push(replica);
  void watchReadiness(replica);
  const deadline = Date.now() + 30_000;
  while (!replica.isReady) {
    if (Date.now() > deadline) throw new Error('the replica does not become ready');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return replica;
}

/** Polls readiness as a balancer does, and believes the answer. */
async function watchReadiness(replica: Replica): Promise<void> {
  while (!isOver) {
    const answer = await call('GET', `http://127.0.0.1:${replica.opsPort}/health/ready`).catch(
      () => undefined,
    );
    replica.isReady = answer?.status === 200;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Keeps one connection to a ready replica until it is told that it has had its last answer. */
async function keepCalling(): Promise<void> {
  while (!isOver) {
    const ready = replicas.filter((replica) => replica.isReady);
    const replica = ready[Math.floor(Math.random() * ready.length)];
    if (!replica) throw new Error('no replica is ready');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let isKept = true;
    while (isKept && !isOver) isKept = await callOnce(replica.port, agent);
    agent.destroy();
  }
}

async function callOnce(port: number, agent: Agent): Promise<boolean> {
  calls += 1;
  try {
    const outgoing = request({ host: '127.0.0.1', port, path: '/proxy', headers, agent }).end();
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    const body = await text(answer);
    if (answer.statusCode !== 200) failures.push(`answered ${answer.statusCode} ${body}`);
    return answer.headers.connection !== 'close';
  } catch (error) {
    failures.push(String(error));
    return false;
  }
}

it('no call fails while each gateway in turn is told to end, under keep-alive load', async () => {
  await Promise.all([startReplica(), startReplica()]);
  const callers = Array.from({ length: connections }, () => keepCalling());
  for (let round = 0; round < 4 || calls < callsMin; round += 1) {
    const [oldest] = replicas;
    if (!oldest) throw new Error('there is no replica');
    await startReplica();
    oldest.process.signal('SIGTERM');
    expect(await oldest.process.exit()).toBe(0);
    replicas = replicas.filter((replica) => replica !== oldest);
  }
  isOver = true;
  await Promise.all(callers);
  expect({ failures, enough: calls >= callsMin }).toEqual({ failures: [], enough: true });
}, 240_000);
