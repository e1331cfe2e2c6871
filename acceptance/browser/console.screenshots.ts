import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { call, create, reactorOf, until } from '../product';
import { startReceiver, type Receiver } from '../receiver';
import { product, useConsoles } from './console';
import { everyScreen } from './screens';

const { openConsole } = useConsoles();
const folder = join(__dirname, '../../docs/console');
const key = product.privateKey;
let shop: Receiver;

const charge = `module.exports = async ({ args }) => {
  const { card, amount } = args;
  console.log('charging', amount, 'in cents');
  const rate = args.rates[card.currency];
  return { raw: { charged: Math.round(amount * rate.factor) } };
};`;

/** Screens whose form on a phone differs most. */
const narrow = ['overview', 'calls', 'calls-one', 'runs-one', 'reactors-one'];

/** A small shop at work: charges, a slow bank, a webhook that nobody takes. */
async function fill(): Promise<void> {
  shop = await startReceiver((answer, { url }) => {
    if (url.startsWith('/hooks')) return void answer.writeHead(503).end('closed');
    answer.writeHead(url.includes('declined') ? 402 : 200).end('{"ok":true}');
  });
  const proxies = await Promise.all(
    ['Charges at the bank', 'Payouts', 'Identity checks'].map((name) =>
      create(product, '/proxies', { name, destination_url: shop.url }),
    ),
  );
  const card = { type: 'card_number', data: '4242424242424242', metadata: { customer: 'c_1042' } };
  const tokens = await Promise.all(
    Array.from({ length: 12 }, () => create(product, '/tokens', card, key)),
  );
  await Promise.all(
    Array.from({ length: 60 }, (_, at) => {
      const proxy = proxies[at % 3];
      const path = at % 9 === 0 ? 'declined' : 'charges';
      const headers = { 'SVC-PROXY-KEY': String(proxy?.key) };
      const body = { amount: 1200 + at, card: `{{${tokens[at % 12]?.id}}}` };
      return call('POST', `${product.baseUrl}/proxy/${path}`, { key, headers, body });
    }),
  );
  const reactor = await reactorOf(product, charge, { name: 'Charge in the currency of the card' });
  for (let at = 0; at < 4; at += 1) {
    const args = { card: { currency: 'EUR' }, amount: 1999, rates: {} };
    const body = { args, callback_url: `${shop.url}/hooks/orders` };
    await call('POST', `${product.baseUrl}/reactors/${reactor}/react`, { key, body });
  }
  await until(async () => shop.received.some(({ url }) => url.startsWith('/hooks')));
}

afterAll(() => shop.close());

it('pictures of every screen are made, light and dark, and of some on a phone', async () => {
  await fill();
  const paths = await everyScreen();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const page = await openConsole();
  for (const path of paths) {
    const [, first = '', id] = path.split('?')[0]?.split('/') ?? [];
    const one = id === 'new' ? id : 'one';
    const name = first === '' ? 'overview' : id ? `${first}-${one}` : first;
    for (const [suffix, colorScheme, width, height] of [
      ['light', 'light', 1280, 800],
      ['dark', 'dark', 1280, 800],
      ['narrow', 'light', 360, 740],
    ] as const) {
      if (suffix === 'narrow' && !narrow.includes(name)) continue;
      // A form that makes something looks in the dark as the one that changes it.
      if (suffix === 'dark' && id === 'new') continue;
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      await page.goto(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
      await page.waitForLoadState('networkidle');
      await page.screenshot({ path: join(folder, `${name}-${suffix}.png`) });
    }
  }
}, 300_000);
