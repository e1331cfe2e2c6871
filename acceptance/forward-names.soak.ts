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

it('100,000 names of one tenant hold up no other tenant, and its memory stays as it was after 5,000', async () => {
  const flood = await clientOf('flood', '*.flood.example');
  const neighbour = await clientOf('neighbour', 'neighbour.example');
  let [begun, ended] = [0, 0];
  let memoryAfterSome = 0;
  const worker = async (): Promise<void> => {
    while (begun < names) {
      begun += 1;
      await flood(`n${begun}.flood.example`);
      ended += 1;
      if (ended === names / 20) memoryAfterSome = memoryOfGateway();
    }
  };
  const flooding = Promise.all(Array.from({ length: atOnce }, worker));
  const times: number[] = [];
  while (ended < names - atOnce) times.push(await neighbour('neighbour.example'));
  await flooding;
  times.sort((a, b) => a - b);
  const p99 = times[Math.floor(times.length * 0.99)] ?? Infinity;
  const memory = memoryOfGateway();
  const told = { asked: times.length, p50: times[times.length >> 1], p99, memoryAfterSome, memory };
  process.stdout.write(`${JSON.stringify(told)}\n`);
  expect(times.length).toBeGreaterThan(100);
  expect(p99).toBeLessThan(2_000);
  expect(memory - memoryAfterSome).toBeLessThan(100);
});
