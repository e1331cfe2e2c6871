import { readFileSync } from 'node:fs';
import { call, create, reactorOf, runningProduct } from '../product';
import { startReceiver, type Receiver } from '../receiver';

const product = runningProduct();
const minutes = 5;
const callers = 8;
const growthMaxMb = 60;
const apps = ['gateway', 'management-api', 'worker', 'runner'];
let destination: Receiver;

beforeAll(async () => {
  destination = await startReceiver();
});
afterAll(() => destination.close());

function residentMb(app: string): number {
  const pid = product.pids[app];
  if (pid === undefined) throw new Error(`no process id of ${app}`);
  const [, kilobytes] =
    /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

it(
  'memory stays where it is while every path is in use, and no call fails',
  async () => {
    const { baseUrl, privateKey } = product;
    const url = `${destination.url}/x`;
    const { key } = await create(product, '/proxies', { name: 'soak', destination_url: url });
    const { id: token } = await create(product, '/tokens', { type: 'token', data: 41 }, privateKey);
    const reactorId = await reactorOf(
      product,
      'module.exports = async ({ args }) => ({ raw: { sum: args.a + 1 } });',
    );
    const react = `${baseUrl}/reactors/${reactorId}/react`;
    const paths: (() => Promise<{ status: number; text: string }>)[] = [
      () =>
        call('POST', `${baseUrl}/proxy`, {
          key: privateKey,
          headers: { 'SVC-PROXY-KEY': String(key) },
          body: { a: `{{${token}}}` },
        }),
      () => call('POST', react, { key: privateKey, body: { args: { a: `{{${token}}}` } } }),
      () => call('POST', react, { key: privateKey, body: { args: { a: 1 }, callback_url: url } }),
      () => call('GET', `${baseUrl}/tokens/${token}`, { key: privateKey }),
    ];

    let calls = 0;
    const failures: string[] = [];
    const callFor = async (durationMs: number): Promise<void> => {
      const end = Date.now() + durationMs;
      const caller = async (start: number): Promise<void> => {
        for (let n = start; Date.now() < end; n += 1) {
          const answer = await paths[n % paths.length]?.();
          calls += 1;
          if (!answer || answer.status >= 400) failures.push(`${answer?.status} ${answer?.text}`);
          destination.received.length = 0;
        }
      };
      await Promise.all(Array.from({ length: callers }, (_, n) => caller(n)));
    };

    await callFor(60_000);
    const before = new Map(apps.map((app) => [app, residentMb(app)]));
    await callFor((minutes - 1) * 60_000);
    const growth = Object.fromEntries(
      apps.map((app) => [app, Math.round(residentMb(app) - (before.get(app) ?? 0))]),
    );
    process.stdout.write(
      `${calls} calls in ${minutes} minutes, MB more: ${JSON.stringify(growth)}\n`,
    );
    expect(failures.slice(0, 5)).toEqual([]);
    for (const app of apps) expect([app, (growth[app] ?? 0) < growthMaxMb]).toEqual([app, true]);
  },
  (minutes + 2) * 60_000,
);
