import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { call, create, runningProduct, until } from './product';
import { startReceiver, type Receiver } from './receiver';

const product = runningProduct();
const attacker = { admin: product.adminKey, key: product.privateKey };
const victim = {
  admin: product.secondTenant.adminKey,
  key: product.secondTenant.privateKey,
};
const attacks = 300;
const withinMs = 1_000;

/** Reports that it has started, then runs for the time that it is told. */
const code = `const http = require('http');
module.exports = async ({ args }) => {
  await new Promise((resolve, reject) => {
    http.get(args.started, (answer) => answer.resume().on('end', resolve)).on('error', reject);
  });
  await new Promise((resolve) => setTimeout(resolve, args.takes_ms));
  return { raw: {} };
};`;

type Tenant = typeof victim;

let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

async function reactorOf(tenant: Tenant): Promise<string> {
  const body = { type: 'private', name: 'fair', code };
  const { id } = await create(product, '/reactor-formulas', body, tenant.admin);
  const reactor = { name: 'fair', configuration: {}, formula: { id } };
  return (await create(product, '/reactors', reactor, tenant.admin)).id;
}

async function accept(
  tenant: Tenant,
  reactorId: string,
  { takesMs, name, callbackUrl }: { takesMs: number; name: string; callbackUrl: string },
): Promise<void> {
  const answer = await call('POST', `${product.baseUrl}/reactors/${reactorId}/react`, {
    key: tenant.key,
    body: {
      args: { started: `${receiver.url}/started/${name}`, takes_ms: takesMs },
      callback_url: callbackUrl,
    },
  });
  expect(answer.status).toBe(202);
}

const came = (path: string): boolean => receiver.received.some(({ url }) => url === path);

/** The time until the victim's run starts, and from there to its webhook. */
async function measure(reactorId: string, name: string): Promise<{ start: number; hook: number }> {
  const acceptedAt = performance.now();
  const callbackUrl = `${receiver.url}/hook/${name}`;
  await accept(victim, reactorId, { takesMs: 0, name, callbackUrl });
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

it('a run starts and reports within a second beside 300 runs of 10 s of another tenant', async () => {
  const [attacked, quiet] = [await reactorOf(attacker), await reactorOf(victim)];
  await measure(quiet, 'first');
  const callbackUrl = `${receiver.url}/attack`;
  for (let nth = 0; nth < attacks; nth += 1) {
    await accept(attacker, attacked, { takesMs: 9_000, name: 'attack', callbackUrl });
  }
  await until(() => Promise.resolve(came('/started/attack')));
  await expectPrompt(quiet);
  // Runs that have not started yet end at once then.
  await call('DELETE', `${product.baseUrl}/reactors/${attacked}`, { key: attacker.admin });
}, 240_000);

it('a webhook arrives within a second beside 300 unanswered ones of another tenant', async () => {
  let hanging = 0;
  const silent = createServer(() => (hanging += 1)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const callbackUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
  const [attacked, quiet] = [await reactorOf(attacker), await reactorOf(victim)];
  await measure(quiet, 'first');
  for (let nth = 0; nth < attacks; nth += 1) {
    await accept(attacker, attacked, { takesMs: 0, name: 'attack', callbackUrl });
  }
  await until(() => Promise.resolve(hanging >= 10), 60_000);
  await expectPrompt(quiet);
  silent.close();
  silent.closeAllConnections();
}, 240_000);
