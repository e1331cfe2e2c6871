import { readFileSync } from 'node:fs';
import { call, devFile, reactorOf, runningProduct, until } from './product';
import { startReceiver, type Receiver } from './receiver';

const product = runningProduct();
const { opsUrls } = JSON.parse(readFileSync(devFile(), 'utf8')) as {
  readonly opsUrls: Readonly<Record<'worker' | 'management-api' | 'gateway', string>>;
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

it.each(['worker', 'management-api', 'gateway'] as const)(
  'a change shows in the definitions of %s, whose knowledge of the log is less than a second old',
  async (app) => {
    const told = `glovebox_definitions_told_seconds{app="${app}"}`;
    const taken = async (): Promise<number> => {
      const from = (store: string) =>
        sample(app, `glovebox_definitions_taken_total{store="${store}",app="${app}"}`);
      return ((await from('redis')) ?? 0) + ((await from('postgres')) ?? 0);
    };
    const before = await taken();
    await reactorOf(product, 'module.exports = async () => ({});');
    await until(async () => (await taken()) > before);
    expect(await sample(app, told)).toBeLessThan(1);
  },
);
