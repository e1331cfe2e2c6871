import { createServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { createAuthority } from '@glovebox/testing';
import { createOwnTenant } from '../own-tenant';
import { call, create, reactorOf, until, type Product } from '../product';
import { startReceiver, type Receiver } from '../receiver';
import { product, useConsoles } from './console';
import { startRun } from './screens';

/** The product as a tenant of its own has it: the overview shows the failures of a whole tenant. */
let own: Product;
let tenantId: string;
const { openConsole } = useConsoles(() => tenantId);

const code = `module.exports = async ({ args }) => {
  const total = args.amount * 2;
  throw new Error('no rate for ' + total);
};`;

let page: Page;
let reactorId: string;
let proxyId: string;
let port: number;
let close: () => Promise<void>;

const react = (id: string, body: object) =>
  call('POST', `${own.baseUrl}/reactors/${id}/react`, { key: own.privateKey, body });

async function startSelfSigned(): Promise<void> {
  const server = createServer(createAuthority().selfSigned('IP:127.0.0.1'), (_, answer) => {
    answer.end();
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
  close = async () => {
    server.close();
    await once(server, 'close');
  };
}

beforeAll(async () => {
  const tenant = await createOwnTenant('failures in the console');
  tenantId = tenant.tenant_id;
  own = { ...product, adminKey: tenant.management_key, privateKey: tenant.private_key };
  await startSelfSigned();
  const name = 'self-signed destination';
  const destination_url = `https://127.0.0.1:${port}`;
  const proxy = await create(own, '/proxies', { name, destination_url });
  proxyId = proxy.id;
  await call('POST', `${own.baseUrl}/proxy/charges`, {
    key: own.privateKey,
    headers: { 'SVC-PROXY-KEY': String(proxy.key) },
    body: {},
  });
  reactorId = await reactorOf(own, code);
  await react(reactorId, { args: { amount: 21 } });
  page = await openConsole('author');
});
afterAll(() => close());

const closing: Receiver[] = [];
afterAll(() => Promise.all(closing.map((receiver) => receiver.close())));
/** Receives the webhooks of one test. */
async function startHooks(...answer: Parameters<typeof startReceiver>): Promise<Receiver> {
  const receiver = await startReceiver(...answer);
  closing.push(receiver);
  return receiver;
}

const newest = () => page.getByRole('table', { name: 'The five newest failures' });

it('a call to a self-signed destination says so, with address and port, and what to do', async () => {
  await page.goto(`/calls?outcome=failed&proxy_id=${proxyId}`);
  await page
    .getByRole('row', { name: /self-signed destination/ })
    .getByRole('link')
    .first()
    .click();
  const why = page.locator('.notice.bad');
  await why.waitFor();
  const text = await why.innerText();
  expect(text).toContain('the certificate is self-signed');
  expect(text).toContain(`127.0.0.1, port ${port}`);
  expect(text).toContain('certificate_authority');
});

it('a reactor that throws on line 3 is found from the overview in three clicks, mended, tried, saved and run again', async () => {
  const hooks = await startHooks();
  const callback_url = `${hooks.url}/hook`;
  const run = await startRun(reactorId, { args: { amount: 21 }, callback_url }, own);
  expect((await hooks.next()).body).toContain('reactor_error');
  await react(reactorId, { args: { amount: 21 } });

  await page.goto('/');
  const failure = newest()
    .getByRole('row', { name: /The code threw an error/ })
    .first();
  await failure.getByRole('link').first().click();
  await page.getByRole('heading', { name: 'Call', level: 1 }).waitFor();
  expect(await page.locator('.notice.bad').innerText()).toContain('reactor_error');
  await page.getByRole('link', { name: 'Run', exact: true }).click();
  await page.getByRole('heading', { name: 'Run', level: 1 }).waitFor();
  await page.getByText('no rate for 42').first().waitFor();
  expect(await page.locator('.notice.bad').innerText()).toContain('line 3');
  const listing = page.getByRole('group', { name: 'Lines of the code' });
  expect(await listing.locator('mark').allInnerTexts()).toEqual([code.split('\n')[2]]);
  await page.getByRole('link', { name: 'Open in the editor' }).click();

  const editor = page.getByRole('textbox', { name: 'Code', exact: true });
  await editor.focus();
  for (const key of ['Control+Home', 'ArrowDown', 'ArrowDown', 'Home', 'Shift+End']) {
    await page.keyboard.press(key);
  }
  await page.keyboard.insertText('return { raw: { total } };');
  await page.getByLabel('args (JSON)').fill('{ "amount": 21 }');
  await page.getByRole('button', { name: 'Dry run' }).click();
  const tried = page.getByRole('form', { name: 'Dry run' });
  await tried.getByText('Completed').waitFor();
  expect(await tried.innerText()).toContain('"total": 42');
  await page
    .getByRole('button', { name: /Review and save/ })
    .first()
    .click();
  const review = page.getByRole('dialog');
  const before = review.getByRole('textbox', { name: 'Before' });
  expect(await before.innerText()).toContain("throw new Error('no rate for ' + total);");
  await review.getByRole('button', { name: /^Save/ }).click();
  await page.getByText('Saved. It counts from the next call.').waitFor();

  await page.goto(`/runs/${run}`);
  await page.getByRole('button', { name: 'Run again…' }).click();
  await page.getByLabel('Send the result to the same callback URL').check();
  await page.getByRole('dialog').getByRole('button', { name: 'Run again' }).click();
  await page.waitForURL((url) => url.pathname.startsWith('/runs/') && !url.href.includes(run));
  await page.getByText('Completed', { exact: true }).waitFor();
  expect(JSON.parse((await hooks.next()).body)).toMatchObject({ raw: { total: 42 } });
});

it('two tabs edit one reactor: the second sees both versions, and overwrites nothing', async () => {
  const second = await openConsole('author');
  const tabs = [page, second];
  const names = ['of the first tab', 'of the second tab'];
  for (const tab of tabs) await tab.goto(`/reactors/${reactorId}`);
  for (const [at, tab] of tabs.entries()) {
    await tab.getByRole('textbox', { name: 'Name' }).fill(names[at] ?? '');
    await tab
      .getByRole('button', { name: /Review and save/ })
      .last()
      .click();
    await tab.getByRole('dialog').getByRole('button', { name: /^Save/ }).click();
    if (tab === page) await tab.getByRole('dialog').waitFor({ state: 'detached' });
  }
  const compared = second.getByText(names[0] ?? '').first();
  await compared.waitFor();
  const url = `${own.baseUrl}/reactors/${reactorId}`;
  const stored = await call('GET', url, { key: own.adminKey });
  expect(stored.body.name).toBe(names[0]);
});

it('250 failed webhooks are sent again by filter from two tabs at once, and none of them twice', async () => {
  let status = 410;
  const hooks = await startHooks((answer) => answer.writeHead(status).end());
  const reactor = await reactorOf(own, 'module.exports = async () => ({ raw: 1 });');
  const parts = Array.from({ length: 10 }, async () => {
    for (let nth = 0; nth < 25; nth += 1) await startRun(reactor, { callback_url: hooks.url }, own);
  });
  await Promise.all(parts);
  const matching = async (): Promise<unknown> => {
    const answer = await call('POST', `${own.baseUrl}/webhook-deliveries/replay`, {
      key: own.adminKey,
      body: { filter: { status: 'failed', reactor_id: reactor }, dry_run: true },
    });
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
    return answer.body.count;
  };
  await until(async () => (await matching()) === 250, 30_000);
  expect(hooks.received).toHaveLength(250);
  status = 200;
  const tabs = await Promise.all([openConsole('admin'), openConsole('admin')]);
  for (const tab of tabs) {
    await tab.goto(`/deliveries?status=failed&reactor_id=${reactor}`);
    await tab.getByRole('button', { name: 'Send again by filter…' }).click();
    await tab.getByText('250 webhooks will be sent again').waitFor();
  }
  await Promise.all(
    tabs.map((tab) => tab.getByRole('button', { name: 'Send 250 webhooks again' }).click()),
  );
  const told = await Promise.all(
    tabs.map((tab) => tab.getByRole('dialog').getByRole('status').innerText()),
  );
  const queued = told.map((text) => Number(/^\d+/.exec(text)?.[0]));
  expect([told, queued.reduce((sum, some) => sum + some, 0)]).toEqual([told, 250]);
  const waiting = `${own.baseUrl}/webhook-deliveries?status=pending&reactor_id=${reactor}`;
  await until(async () => {
    const { body } = await call('GET', waiting, { key: own.adminKey });
    return (body.data as unknown[]).length === 0;
  }, 30_000);
  const again = hooks.received.slice(250).map(({ headers }) => headers['webhook-id']);
  expect(again).toHaveLength(250);
  expect(new Set(again).size).toBe(250);
  expect(await matching()).toBe(0);
});
