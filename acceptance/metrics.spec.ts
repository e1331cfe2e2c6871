import { readFileSync } from 'node:fs';
import { call, devFile, reactorOf, runningProduct, until } from './product';
import { startReceiver, type Receiver } from './receiver';

const product = runningProduct();
const { opsUrls } = JSON.parse(readFileSync(devFile(), 'utf8')) as {
  readonly opsUrls: Readonly<Record<'worker' | 'management-api', string>>;
};

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

/** The value of a sample, whose labels are given as they are written. Undefined: it is not there. */
async function sample(app: keyof typeof opsUrls, name: string): Promise<number | undefined> {
  const { text } = await call('GET', `${opsUrls[app]}/metrics`);
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

const counted = [
  'glovebox_worker_runs_total{outcome="completed",app="worker"}',
  'glovebox_worker_run_seconds_count{app="worker"}',
  'glovebox_worker_run_queued_seconds_count{app="worker"}',
  'glovebox_worker_delivery_attempt_seconds_count{app="worker",outcome="delivered"}',
  'glovebox_worker_deliveries_total{status="delivered",outcome="delivered",app="worker"}',
  'glovebox_worker_delivery_seconds_count{app="worker"}',
];

it('an async run and its webhook show in each metric of the worker', async () => {
  const before = new Map<string, number>();
  for (const name of counted) before.set(name, (await sample('worker', name)) ?? 0);
  const id = await reactorOf(product, 'module.exports = async () => ({ raw: 1 });');
  const { status } = await call('POST', `${product.baseUrl}/reactors/${id}/react`, {
    key: product.privateKey,
    body: { callback_url: `${receiver.url}/metrics` },
  });
  expect(status).toBe(202);
  await receiver.next();
  for (const name of counted) {
    await until(async () => ((await sample('worker', name)) ?? 0) > (before.get(name) ?? 0));
  }
});

it.each(['runs', 'deliveries'])('the worker shows the depth of its queue: %s', async (queue) => {
  for (const state of ['due', 'later']) {
    const name = `glovebox_worker_queue_rows{queue="${queue}",state="${state}",app="worker"}`;
    expect(await sample('worker', name)).toBeGreaterThanOrEqual(0);
  }
  const oldest = `glovebox_worker_queue_oldest_due_seconds{queue="${queue}",app="worker"}`;
  expect(await sample('worker', oldest)).toBeGreaterThanOrEqual(0);
});

it.each(['worker', 'management-api'] as const)(
  'the lag of the relay in %s is below a second after a change',
  async (app) => {
    await reactorOf(product, 'module.exports = async () => ({});');
    const lag = (unit: string) => sample(app, `glovebox_relay_lag_${unit}{app="${app}"}`);
    await until(async () => (await lag('versions')) === 0 && ((await lag('seconds')) ?? 9) < 1);
  },
);
