import { readFileSync } from 'node:fs';
import { answerTo, forwardAuthority, openTunnel } from './forward-tunnel';
import { createOwnTenant } from './own-tenant';
import { create, runningProduct } from './product';
import { startReceiver, type Receiver } from './receiver';

const product = runningProduct();
const names = 100_000;
const atOnce = 32;
jest.setTimeout(3_600_000);

let destination: Receiver;
beforeAll(async () => {
  destination = await startReceiver();
});
afterAll(() => destination.close());

/** A tenant with a proxy for the hosts, and a client that asks one of them on a connection of its own. */
async function clientOf(name: string, hosts: string) {
  const { management_key, private_key: key } = await createOwnTenant(name);
  const ca = await forwardAuthority(product, management_key);
  const proxy = { name, destination_url: destination.url, match: { hosts: [hosts] } };
  await create(product, '/proxies', proxy, management_key);
  return async (host: string): Promise<number> => {
    const begun = performance.now();
    const tunnel = await openTunnel(product, { host, key, ca });
    await answerTo({ path: '/', headers: { host }, createConnection: () => tunnel });
    tunnel.destroy();
    // The receiver keeps all that it gets.
    destination.received.splice(0);
    return performance.now() - begun;
  };
}

const memoryOfGateway = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${product.pids.gateway}/status`, 'utf8'))?.[1]) /
  1_024;

it('100,000 names of one tenant hold up no other tenant, and its memory stays as it was after 20,000', async () => {
  const flood = await clientOf('flood', '*.flood.example');
  const neighbour = await clientOf('neighbour', 'neighbour.example');
  let [begun, ended, failed] = [0, 0, 0];
  let memoryAfterSome = 0;
  const worker = async (): Promise<void> => {
    while (begun < names) {
      begun += 1;
      // A gateway that hears nothing from Redis for a moment answers 503, as on any busy machine.
      await flood(`n${begun}.flood.example`).catch(() => (failed += 1));
      ended += 1;
      // Its certificates are all that it keeps by then, and its heap has grown to its size.
      if (ended === names / 5) memoryAfterSome = memoryOfGateway();
    }
  };
  const flooding = Promise.all(Array.from({ length: atOnce }, worker));
  const times: number[] = [];
  let refused = 0;
  const asked = (ms: number): number => times.push(ms);
  while (ended < names - atOnce) {
    await neighbour('neighbour.example').then(asked, () => (refused += 1));
  }
  await flooding;
  times.sort((a, b) => a - b);
  const p99 = times[Math.floor(times.length * 0.99)] ?? Infinity;
  const memory = memoryOfGateway();
  const of = { asked: times.length, p50: times[times.length >> 1], p99 };
  const told = { ...of, refused, failed, memoryAfterSome, memory };
  process.stdout.write(`${JSON.stringify(told)}\n`);
  expect(times.length).toBeGreaterThan(100);
  expect(refused).toBeLessThan(times.length / 1_000);
  expect(failed).toBeLessThan(names / 1_000);
  expect(p99).toBeLessThan(2_000);
  expect(memory - memoryAfterSome).toBeLessThan(60);
});
