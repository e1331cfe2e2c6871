import { createServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { createAuthority } from '@glovebox/testing';
import { call, create, reactorOf } from '../product';
import { product, useConsoles } from './console';

const { openConsole } = useConsoles();

const code = `module.exports = async ({ args }) => {
  const total = args.amount * 2;
  throw new Error('no rate for ' + total);
};`;

let page: Page;
let reactorId: string;
let port: number;
let close: () => Promise<void>;

const react = (id: string, body: object) =>
  call('POST', `${product.baseUrl}/reactors/${id}/react`, { key: product.privateKey, body });

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
  await startSelfSigned();
  const name = 'self-signed destination';
  const destination_url = `https://127.0.0.1:${port}`;
  const proxy = await create(product, '/proxies', { name, destination_url });
  await call('POST', `${product.baseUrl}/proxy/charges`, {
    key: product.privateKey,
    headers: { 'SVC-PROXY-KEY': String(proxy.key) },
    body: {},
  });
  reactorId = await reactorOf(product, code);
  await react(reactorId, { args: { amount: 21 } });
  page = await openConsole('author');
});
afterAll(() => close());

const newest = () => page.getByRole('table', { name: 'The five newest failures' });

it('a call to a self-signed destination says so, with address and port, and what to do', async () => {
  await page.goto('/calls?outcome=failed');
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

it('a reactor that throws on line 3 is found from the overview in three clicks, the line marked', async () => {
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
  await page.getByRole('link', { name: 'Open in the editor' }).click();
  await page.getByRole('heading', { name: 'Reactor', level: 1 }).waitFor();
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
  const url = `${product.baseUrl}/reactors/${reactorId}`;
  const stored = await call('GET', url, { key: product.adminKey });
  expect(stored.body.name).toBe(names[0]);
});
