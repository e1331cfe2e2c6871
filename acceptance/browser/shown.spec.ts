import { call, create, revealingApplication } from '../product';
import { startReceiver } from '../receiver';
import { product, useConsoles } from './console';
import { send } from './screens';

const { openConsole } = useConsoles();

const counted = 'counted by the overview';
beforeAll(async () => {
  const shop = await startReceiver((answer, { url }) => {
    answer.writeHead(url === '/refused' ? 503 : 200).end('{}');
  });
  const proxy = await create(product, '/proxies', { name: counted, destination_url: shop.url });
  for (let sent = 0; sent < 1_000; sent += 20) {
    await Promise.all(
      Array.from({ length: 20 }, (_, at) => send(proxy, at % 4 === 0 ? '/refused' : '/taken')),
    );
  }
  await shop.close();
});

it('a revealed value is shown for 60 seconds to an admin who says why, and is then nowhere in the page', async () => {
  const value = 'shown-for-a-minute';
  const data = { type: 'token', data: value };
  const [token] = await Promise.all([
    create(product, '/tokens', data, product.privateKey),
    revealingApplication(product, ['read']),
  ]);
  const page = await openConsole('admin');
  await page.clock.install();
  await page.goto(`/tokens/${token.id}`);
  await page.getByRole('button', { name: 'Reveal…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Reveal' });
  await dialog.getByLabel('Reason').fill('A customer asks about order 7');
  await dialog.getByRole('button', { name: 'Reveal', exact: true }).click();
  await dialog.getByText(value).waitFor();
  const everywhere = () =>
    page.evaluate<string>(`document.documentElement.outerHTML + location.href +
      JSON.stringify([{ ...sessionStorage }, { ...localStorage }, history.state])`);
  await page.clock.runFor(29_000);
  expect(await everywhere()).toContain(value);
  // As a machine that slept: no timer ran in between.
  await page.clock.fastForward(31_000);
  await dialog.waitFor({ state: 'detached' });
  expect(await everywhere()).not.toContain(value);
  const lines = `${product.baseUrl}/logs?entity_id=${token.id}&operation=token.reveal`;
  const { body } = await call('GET', lines, { key: product.adminKey });
  expect(body.data).toMatchObject([{ reason: 'A customer asks about order 7' }]);
});

it('the overview counts 1,000 mixed calls as they were made', async () => {
  const page = await openConsole('viewer');
  const row = page.getByRole('row', { name: new RegExp(`^${counted} /proxy 1,000 250 25 %`) });
  await row.waitFor({ timeout: 25_000 });
});
