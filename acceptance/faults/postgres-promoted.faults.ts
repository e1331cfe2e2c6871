import { setTimeout as delay } from 'node:timers/promises';
import { startTcpRelay, type TcpRelay } from '@glovebox/testing';
import { ready, startOwnProduct, type OwnProduct } from '../own-product';
import { AppProcess, placeBeside } from '../processes';
import { call, create, reactorOf, until } from '../product';
import { startReceiver, type Receiver } from '../receiver';
import { rowsOf, Standby } from './standby';

jest.setTimeout(300_000);

const callsPerSecond = 200;
const refusalMaxMs = 5_000;

let product: OwnProduct;
let receiver: Receiver;
let relay: TcpRelay;
let standby: Standby;
let apps: Record<string, AppProcess>;
let gateways: string[];

beforeEach(async () => {
  product = await startOwnProduct();
  receiver = await startReceiver();
  relay = await startTcpRelay(product.databaseUrl);
  apps = {};
  const through = (own: Readonly<Record<string, string>>): string =>
    relay.through(own.DATABASE_URL ?? '');
  for (const name of ['management-api', 'gateway', 'worker']) {
    const app = new AppProcess(product.pids[name]);
    const { port, opsPort, settings } = await placeBeside();
    if (name === 'gateway') {
      apps.second = app.another((own) => ({ ...own, DATABASE_URL: through(own), ...settings }));
      gateways = [product.baseUrl, `http://127.0.0.1:${port}`];
      await ready(`http://127.0.0.1:${opsPort}`);
    }
    app.signal('SIGKILL');
    let databaseUrl = '';
    apps[name] = app.another((own) => {
      databaseUrl = through(own);
      return { ...own, DATABASE_URL: databaseUrl };
    });
    await ready(product.opsUrls[name]);
  }
}, 240_000);

afterEach(async () => {
  await Promise.all(Object.values(apps).map((app) => app.end()));
  await relay.close();
  await standby.stop();
  await product.stop();
  await receiver.close();
});

interface Target {
  readonly id: string;
  readonly key: string;
}

async function newProxy(): Promise<Target> {
  const body = { name: 'target', destination_url: `${receiver.url}/proxied` };
  const { id, key } = await create(product, '/proxies', body);
  return { id, key: String(key) };
}

const invoke = async (gateway: string, { key }: Target, body?: unknown): Promise<number> =>
  (
    await call('POST', `${gateway}/proxy`, {
      key: product.privateKey,
      headers: { 'SVC-PROXY-KEY': key },
      body: body ?? {},
    })
  ).status;

const accept = (reactorId: string) =>
  call('POST', `${product.baseUrl}/reactors/${reactorId}/react`, {
    key: product.privateKey,
    body: { callback_url: `${receiver.url}/hook` },
  });
const webhooksOf = (runId: string): number =>
  receiver.received.filter(({ headers }) => headers['webhook-id'] === `msg_${runId}`).length;

/** Calls at an even pace, and keeps when each one began and how it ended. */
function load(work: (nth: number) => Promise<number>): {
  readonly calls: { readonly at: number; readonly status: number }[];
  stop(): Promise<void>;
} {
  const calls: { at: number; status: number }[] = [];
  const open = new Set<Promise<unknown>>();
  let over = false;
  const loop = (async () => {
    const begun = performance.now();
    for (let nth = 0; !over; nth += 1) {
      await delay(Math.max(0, begun + (nth * 1_000) / callsPerSecond - performance.now()));
      const at = performance.now();
      const one: Promise<unknown> = work(nth)
        .catch(() => 0)
        .then((status) => calls.push({ at, status }))
        .finally(() => open.delete(one));
      open.add(one);
    }
  })();
  return {
    calls,
    async stop() {
      over = true;
      await loop;
      await Promise.all(open);
    },
  };
}

/** Kills the primary, promotes the standby, and leads connections to it as a service does. */
async function failOver(): Promise<number> {
  process.kill(product.pids.postgres ?? 0, 'SIGKILL');
  await relay.cut();
  await standby.promote();
  relay.leadTo(standby.url);
  await relay.restore();
  return performance.now();
}

const epoch = async (url: string): Promise<{ epoch: string; holds: boolean; timeline: number }> => {
  const [head] = await rowsOf<{ epoch: string; holds: boolean; timeline: number }>(
    url,
    'SELECT epoch, holds, timeline FROM definition_head',
  );
  if (!head) throw new Error('no head');
  return head;
};

/** From the answer of the new primary on: the time until no call fails any more. */
const refusedMs = (
  calls: readonly { readonly at: number; readonly status: number }[],
  since: number,
): number =>
  Math.max(0, ...calls.filter(({ status }) => status !== 200).map(({ at }) => at - since));

it('a synchronous standby that is promoted under 200 calls/s loses nothing that was acknowledged, and calls succeed again within 5 s', async () => {
  standby = await Standby.follow(product, { synchronous: true });
  const target = await newProxy();
  const { id: token } = await create(
    product,
    '/tokens',
    { type: 'token', data: 'value' },
    product.privateKey,
  );
  const reactorId = await reactorOf(product, 'module.exports = async () => ({ raw: {} });');
  const proxies: Target[] = [];
  const runs: string[] = [];
  let over = false;
  const writing = (async () => {
    while (!over) {
      await newProxy().then(
        (proxy) => proxies.push(proxy),
        () => delay(20),
      );
    }
  })();
  const accepting = (async () => {
    while (!over) {
      const answer = await accept(reactorId).catch(() => undefined);
      if (answer?.status === 202) runs.push(String(answer.body.async_request_id));
      await delay(20);
    }
  })();
  const opening = load((nth) =>
    invoke(gateways[nth % 2] ?? '', target, { value: `{{ ${token} }}` }),
  );
  await until(() => Promise.resolve(proxies.length > 20 && runs.length > 20), 60_000);
  const before = await epoch(product.databaseUrl);
  const since = await failOver();
  const [proxiesBefore, runsBefore] = [proxies.length, runs.length];
  await until(
    () => Promise.resolve(proxies.length > proxiesBefore + 20 && runs.length > runsBefore + 20),
    60_000,
  );
  await until(() => Promise.resolve(performance.now() - since > refusalMaxMs));
  over = true;
  await Promise.all([writing, accepting, opening.stop()]);

  const after = await epoch(standby.url);
  expect(after.epoch).not.toBe(before.epoch);
  expect(after).toMatchObject({ holds: false, timeline: before.timeline + 1 });
  const refused = refusedMs(opening.calls, since);
  expect(refused).toBeLessThan(refusalMaxMs);
  for (const gateway of gateways) {
    const statuses = await Promise.all(proxies.map((proxy) => invoke(gateway, proxy)));
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  }
  await until(() => Promise.resolve(runs.every((id) => webhooksOf(id) >= 1)), 120_000);
  const bodies = new Map<string, Set<string>>();
  for (const { headers, body } of receiver.received) {
    const id = headers['webhook-id'];
    if (typeof id === 'string') bodies.set(id, (bodies.get(id) ?? new Set()).add(body));
  }
  expect([...bodies.values()].filter(({ size }) => size !== 1)).toEqual([]);
  process.stdout.write(
    `synchronous: ${opening.calls.length} calls, ${proxies.length} proxies and ${runs.length} runs ` +
      `acknowledged, none lost; refused until ${Math.round(refused)} ms after the new primary answered\n`,
  );
});

it('an asynchronous standby that lacks commits is followed within 5 s: what it lacks is lost on every gateway, and what waits is held', async () => {
  standby = await Standby.follow(product);
  const [target, kept] = [await newProxy(), await newProxy()];
  const reactorId = await reactorOf(product, 'module.exports = async () => ({ raw: {} });');
  apps.worker?.signal('SIGSTOP');
  const run = String((await accept(reactorId)).body.async_request_id);
  await until(
    async () =>
      (await rowsOf(standby.url, `SELECT FROM reactor_runs WHERE id = '${run}'`)).length === 1,
  );
  await standby.fallBehind();

  // The primary acknowledges what the standby does not get: a proxy, a deletion, the end of a run.
  apps.worker?.signal('SIGCONT');
  await until(() => Promise.resolve(webhooksOf(run) === 1), 60_000);
  const lost = await newProxy();
  for (const gateway of gateways) expect(await invoke(gateway, lost)).toBe(200);
  const deletion = `${product.baseUrl}/proxies/${kept.id}`;
  expect((await call('DELETE', deletion, { key: product.adminKey })).status).toBe(204);

  const calling = load((nth) => invoke(gateways[nth % 2] ?? '', target));
  const asking = load(async (nth) =>
    (await invoke(gateways[nth % 2] ?? '', lost)) === 200 ? 0 : 200,
  );
  await delay(2_000);
  const before = await epoch(product.databaseUrl);
  const since = await failOver();
  await until(async () => (await invoke(gateways[0] ?? '', kept)) === 200, 30_000);
  await until(() => Promise.resolve(performance.now() - since > refusalMaxMs));
  await Promise.all([calling.stop(), asking.stop()]);

  expect((await epoch(standby.url)).epoch).not.toBe(before.epoch);
  const refused = refusedMs(calling.calls, since);
  expect(refused).toBeLessThan(refusalMaxMs);
  // No gateway goes on with a version that the new primary lacks.
  const shown = refusedMs(asking.calls, since);
  expect(shown).toBeLessThan(1_500);
  for (const gateway of gateways) expect(await invoke(gateway, kept)).toBe(200);

  await until(async () => !(await epoch(standby.url)).holds, 30_000);
  const { body } = await call('GET', `${product.baseUrl}/runs/${run}`, { key: product.adminKey });
  expect(body.status).toBe('held');
  const fresh = await accept(reactorId);
  expect(fresh.status).toBe(202);
  const id = String(fresh.body.async_request_id);
  await until(() => Promise.resolve(webhooksOf(id) === 1), 30_000);
  expect(webhooksOf(run)).toBe(1);
  process.stdout.write(
    `asynchronous: ${calling.calls.length} calls; refused until ${Math.round(refused)} ms, and what was lost ` +
      `shown until ${Math.round(shown)} ms after the new primary answered\n`,
  );
});
