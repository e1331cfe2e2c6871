import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startOwnProduct, type OwnProduct } from '../own-product';
import { call, create, until } from '../product';
import { startReceiver, type Receiver } from '../receiver';

const attacks = 300;
/** Hosts: a worker sends that many webhooks at once. */
const silentHosts = 50;
/** Runs that have to hang before it is measured. A machine with 4 GB has room for so many. */
const hangingMin = 5;
const withinMs = 1_000;

/** Reports that it has started, and goes on when that is answered. */
const code = `const http = require('http');
module.exports = async ({ args }) => {
  await new Promise((resolve, reject) => {
    http.get(args.started, (answer) => answer.resume().on('end', resolve)).on('error', reject);
  });
  return { raw: {} };
};`;

interface Tenant {
  readonly adminKey: string;
  readonly privateKey: string;
}

let product: OwnProduct;
let receiver: Receiver;
/** The runs that hang, as the receiver does not answer them. */
let held: ServerResponse[];

beforeAll(async () => {
  product = await startOwnProduct({ EGRESS_ALLOW: '127.0.0.0/8:*', SANDBOX_MEMORY_MB: '192' });
});
afterAll(() => product.stop());
beforeEach(async () => {
  held = [];
  receiver = await startReceiver((res, { url }) => {
    if (url === '/started/hangs') held.push(res);
    else res.end();
  });
});
afterEach(() => receiver.close());

async function reactorOf({ adminKey }: Tenant): Promise<string> {
  const body = { type: 'private', name: 'fair', code };
  const { id } = await create(product, '/reactor-formulas', body, adminKey);
  const reactor = { name: 'fair', configuration: {}, formula: { id } };
  return (await create(product, '/reactors', reactor, adminKey)).id;
}

async function accept(
  tenant: Tenant,
  reactorId: string,
  { name, callbackUrl }: { name: string; callbackUrl: string },
): Promise<void> {
  const answer = await call('POST', `${product.baseUrl}/reactors/${reactorId}/react`, {
    key: tenant.privateKey,
    body: {
      args: { started: `${receiver.url}/started/${name}` },
      callback_url: callbackUrl,
      timeout_ms: 210_000,
    },
  });
  expect(answer.status).toBe(202);
}

const came = (path: string): boolean => receiver.received.some(({ url }) => url === path);

/** The time until the victim's run starts, and from there to its webhook. */
async function measure(reactorId: string, name: string): Promise<{ start: number; hook: number }> {
  const acceptedAt = performance.now();
  const callbackUrl = `${receiver.url}/hook/${name}`;
  await accept(product.secondTenant, reactorId, { name, callbackUrl });
  await until(() => Promise.resolve(came(`/started/${name}`)), 120_000);
  const startedAt = performance.now();
  await until(() => Promise.resolve(came(`/hook/${name}`)), 120_000);
  return { start: startedAt - acceptedAt, hook: performance.now() - startedAt };
}

async function expectPrompt(reactorId: string): Promise<void> {
  for (let nth = 0; nth < 5; nth += 1) {
    const { start, hook } = await measure(reactorId, `victim-${nth}`);
    expect(start).toBeLessThan(withinMs);
    expect(hook).toBeLessThan(withinMs);
  }
}

it('a run starts and reports within a second beside 300 runs of another tenant that hang for 210 s', async () => {
  const quiet = await reactorOf(product.secondTenant);
  await measure(quiet, 'first');
  const attacked: string[] = [];
  // One reactor gets too few sandboxes to hold what one tenant may hold.
  for (let nth = 0; nth < 4; nth += 1) attacked.push(await reactorOf(product));
  const callbackUrl = `${receiver.url}/attack`;
  for (let nth = 0; nth < attacks; nth += 1) {
    await accept(product, attacked[nth % 4] ?? '', { name: 'hangs', callbackUrl });
  }
  await until(() => Promise.resolve(held.length >= hangingMin), 60_000);
  await expectPrompt(quiet);
  // Runs that have not started yet end at once then.
  for (const id of attacked) {
    await call('DELETE', `${product.baseUrl}/reactors/${id}`, { key: product.adminKey });
  }
  for (const hanging of held) hanging.end();
}, 240_000);

it('a run starts and reports within a second beside 300 webhooks of another tenant to 50 hosts that do not answer', async () => {
  let hanging = 0;
  const silent = createServer(() => (hanging += 1)).listen(0);
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const [attacked, quiet] = [await reactorOf(product), await reactorOf(product.secondTenant)];
  await measure(quiet, 'first');
  for (let nth = 0; nth < attacks; nth += 1) {
    const callbackUrl = `http://127.0.1.${1 + (nth % silentHosts)}:${port}/`;
    await accept(product, attacked, { name: 'attack', callbackUrl });
  }
  await until(() => Promise.resolve(hanging >= silentHosts / 2), 60_000);
  await expectPrompt(quiet);
  silent.close();
  silent.closeAllConnections();
}, 240_000);
