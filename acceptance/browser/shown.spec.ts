import { call, create } from '../product';
import { startReceiver } from '../receiver';
import { product, useConsoles } from './console';
import { everyScreen } from './screens';

const { openConsole } = useConsoles();

it('the overview counts 1,000 mixed calls as they were made', async () => {
  const shop = await startReceiver((answer, { url }) => {
    answer.writeHead(url === '/refused' ? 503 : 200).end('{}');
  });
  const name = 'counted by the overview';
  const proxy = await create(product, '/proxies', { name, destination_url: shop.url });
  const headers = { 'SVC-PROXY-KEY': String(proxy.key) };
  const send = (path: string) =>
    call('POST', `${product.baseUrl}/proxy/${path}`, {
      key: product.privateKey,
      headers,
      body: {},
    });
  for (let sent = 0; sent < 1_000; sent += 20) {
    const some = Array.from({ length: 20 }, (_, at) => send(at % 4 === 0 ? 'refused' : 'taken'));
    await Promise.all(some);
  }
  await shop.close();
  const page = await openConsole('viewer');
  const row = page.getByRole('row', { name: new RegExp(`^${name} /proxy 1,000 250 25 %`) });
  await row.waitFor({ timeout: 25_000 });
}, 60_000);

it('what is secret is in no address, storage, document or answer of any screen before a reveal', async () => {
  const secret = 'planted-in-the-vault';
  const paths = await everyScreen();
  const key = product.privateKey;
  const token = await create(product, '/tokens', { type: 'token', data: secret }, key);
  const formula = await create(product, '/reactor-formulas', {
    ...{ type: 'private', name: 'with a secret', code: 'module.exports = async () => ({});' },
    configuration: [{ name: 'PASSWORD', type: 'string' }],
  });
  const reactor = await create(product, '/reactors', {
    ...{ name: 'with a secret', formula: { id: formula.id } },
    configuration: { PASSWORD: 'planted-in-the-configuration' },
  });
  const proxy = await create(product, '/proxies', {
    ...{ name: 'with a secret', destination_url: 'http://127.0.0.1:1' },
    request_transforms: [
      { type: 'append', options: { location: 'header', name: 'x', value: 'planted-in-a-step' } },
    ],
  });
  const secrets = ['planted-in-', String(proxy.key), product.adminKey, product.privateKey];
  const page = await openConsole('admin');
  const answers: Promise<string>[] = [];
  page.on('response', (answer) => {
    if (answer.url().includes('/api/')) answers.push(answer.text().catch(() => ''));
  });
  const seen: string[] = [];
  const more = [`/tokens/${token.id}`, `/reactors/${reactor.id}`, `/proxies/${proxy.id}`];
  for (const path of [...paths, ...more]) {
    await page.goto(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    const all = await page.evaluate<string>(
      `JSON.stringify([location.href, { ...sessionStorage }, { ...localStorage },
        document.documentElement.outerHTML, [...document.querySelectorAll('input, textarea')].map(({ value }) => value)])`,
    );
    seen.push(...secrets.filter((each) => all.includes(each)).map((each) => `${path}: ${each}`));
  }
  const texts = await Promise.all(answers);
  expect(texts.length).toBeGreaterThan(paths.length);
  seen.push(...secrets.filter((each) => texts.some((text) => text.includes(each))));
  expect(seen).toEqual([]);
}, 60_000);
