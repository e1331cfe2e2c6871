import type { ChildProcess } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { freePort } from '@glovebox/testing';
import { ready } from '../own-product';
import { AppProcess } from '../processes';
import { call, create, reactorOf, runningProduct, until } from '../product';
import { startReceiver, type Received, type Receiver } from '../receiver';
import { PackedCli } from './packed';

const product = runningProduct();
/** A management API that nobody else uses, so that it may be killed. */
let management: AppProcess;
let managementUrl: string;
let cli: PackedCli;
let originals: Receiver;
let local: Receiver;
let secret: string;

beforeAll(async () => {
  const [port, opsPort] = [await freePort(), await freePort()];
  managementUrl = `http://127.0.0.1:${port}`;
  management = new AppProcess(product.pids['management-api']).another(
    ({ CONSOLE_PORT: _, ...own }) => ({ ...own, PORT: String(port), OPS_PORT: String(opsPort) }),
  );
  cli = new PackedCli();
  originals = await startReceiver();
  local = await startReceiver();
  const { body } = await call('GET', `${product.baseUrl}/tenants/self/webhook-secret`, {
    key: product.adminKey,
  });
  secret = String(body.secret);
  await ready(`http://127.0.0.1:${opsPort}`);
});
afterAll(async () => {
  await management.end();
  cli.remove();
  await Promise.all([originals.close(), local.close()]);
});

function isGenuine({ headers, body }: Received): boolean {
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  return String(headers['webhook-signature']).split(' ').includes(expected);
}

const numberOf = ({ body }: Received): number =>
  (JSON.parse(body) as { raw: { number: number } }).raw.number;

/** A program that listens, and the values that it prints. */
async function listening(reactorId: string): Promise<{ child: ChildProcess; lines: unknown[] }> {
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions: ['log:read'] }];
  const permissions = ['tenant:update', 'reactor:read'];
  const application = { name: 'listens', type: 'management', permissions, rules };
  const { key } = await create(product, '/applications', application);
  const child = cli.start(['listen', '--forward-to', local.url, '--name', reactorId, '--json'], {
    env: { GLOVEBOX_URL: managementUrl, GLOVEBOX_KEY: String(key) },
  });
  const lines: unknown[] = [];
  if (!child.stdout || !child.stderr) throw new Error('no output');
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)));
  for await (const line of createInterface({ input: child.stderr })) {
    if (line.startsWith('Listening')) break;
  }
  child.stderr.resume();
  return { child, lines };
}

it('listen delivers each of 200 webhooks once and verified, while the management API is killed and comes back', async () => {
  const count = 200;
  const reactorId = await reactorOf(
    product,
    'module.exports = async ({ args }) => ({ raw: args });',
  );
  const { child, lines } = await listening(reactorId);
  const run = async (number: number): Promise<void> => {
    const { status } = await call('POST', `${product.baseUrl}/reactors/${reactorId}/react`, {
      key: product.privateKey,
      body: { args: { number }, callback_url: originals.url },
    });
    expect(status).toBe(202);
  };
  const runs = async (from: number, to: number): Promise<void> => {
    for (let next = from; next < to; next += 10) {
      await Promise.all(Array.from({ length: 10 }, (_, nth) => run(next + nth)));
    }
  };
  await runs(0, 80);
  await until(() => Promise.resolve(local.received.length > 0), 60_000);
  management.signal('SIGKILL');
  await management.exit();
  await runs(80, 140);
  management.restart();
  await runs(140, count);
  await until(() => Promise.resolve(local.received.length >= count), 60_000);
  await until(() => Promise.resolve(originals.received.length >= count), 60_000);

  const all = Array.from({ length: count }, (_, number) => number);
  expect(local.received.map(numberOf).sort((a, b) => a - b)).toEqual(all);
  expect(local.received.filter((one) => !isGenuine(one))).toEqual([]);
  expect(originals.received.map(numberOf).sort((a, b) => a - b)).toEqual(all);
  await until(() => Promise.resolve(lines.length >= count), 60_000);
  expect(lines).toEqual(
    all.map(
      () => expect.objectContaining({ verified: true, status: 200, again: false }) as unknown,
    ),
  );

  child.stdin?.write('\n');
  await until(() => Promise.resolve(local.received.length > count), 60_000);
  const again = local.received.at(-1);
  expect(local.received.slice(0, count)).toContainEqual(again);
  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

it('listen ends with 3 where no rule reveals, and with 2 where the address is not of this machine', async () => {
  const env = { GLOVEBOX_URL: product.baseUrl, GLOVEBOX_KEY: product.adminKey };
  const refused = await cli.run(['listen', '--forward-to', local.url], { env });
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('reveal')]);
  const open = await cli.run(['listen', '--forward-to', 'http://shop.example/'], { env });
  expect([open.code, open.stderr]).toEqual([2, expect.stringContaining('not encrypted')]);
});
