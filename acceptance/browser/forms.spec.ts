import { X509Certificate } from 'node:crypto';
import type { Page } from 'playwright-core';
import { call, create } from '../product';
import { makeLink, product, useConsoles } from './console';

const { openConsole } = useConsoles();
let page: Page;
beforeAll(async () => {
  page = await openConsole('admin');
});

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
const dialog = (name: string) => page.getByRole('dialog', { name });
const heading = (name: string) => page.getByRole('heading', { name, level: 1, exact: true });
const stored = async (path: string): Promise<Record<string, unknown>> =>
  (await call('GET', `${product.baseUrl}${path}`, { key: product.adminKey })).body;
const saved = () => page.getByText('Saved. It counts from the next call.').waitFor();
const pathOfPage = () => new URL(page.url()).pathname;

it('an application is made, its key shown once, and takes rights away only when that is agreed to', async () => {
  await page.goto('/applications');
  await page.getByRole('link', { name: 'New application' }).click();
  await button('Create this application').click();
  await page.getByLabel('Name', { exact: true }).and(page.locator('[aria-invalid]')).waitFor();
  await page.getByLabel('Name', { exact: true }).fill('made in the page');
  await page.getByLabel(/^token:read /).check();
  await button('Add a rule').click();
  await page.getByLabel('Container of rule 1').fill('/pci/');
  await page.getByLabel('What rule 1 shows').selectOption('reveal');
  await button('Create this application').click();
  await dialog('The application is made').waitFor();
  const key = await page.getByLabel('Key of the application').innerText();
  // Escape does not lose what is shown once.
  for (let at = 0; at < 3; at += 1) await page.keyboard.press('Escape');
  await button('I have kept it').click();
  await heading('Application').waitFor();
  expect(await page.content()).not.toContain(key);
  const path = pathOfPage();
  const own = await call('GET', `${product.baseUrl}/applications/key`, { key });
  expect(own.body).toMatchObject({ name: 'made in the page', permissions: ['token:read'] });

  await button('Add a rule').click();
  await page.getByLabel('What rule 2 shows').selectOption('redact');
  await button('Move rule 2 up').click();
  await button('Review and save…').click();
  const review = dialog('Save this application');
  await review.getByText('token:read everywhere: mask becomes redact').waitFor();
  await review.getByText('token:read in /pci/: reveal becomes redact').waitFor();
  const save = review.getByRole('button', { name: 'Save', exact: true });
  expect(await save.isDisabled()).toBe(true);
  await review.getByLabel(/^I know/).check();
  await save.click();
  await saved();
  expect(await stored(path)).toMatchObject({
    rules: [
      { priority: 1, container: '/', transform: 'redact' },
      { priority: 2, container: '/pci/', transform: 'reveal' },
    ],
  });
});

it('a proxy is made, and a change of its steps keeps the values that nobody is shown', async () => {
  await page.goto('/proxies/new');
  await page.getByLabel('Name', { exact: true }).fill('made in the page');
  await page.getByLabel('URL').fill('ftp://example.com');
  await button('Create this proxy').click();
  await page.getByLabel('URL').and(page.locator('[aria-invalid]')).waitFor();
  await page.getByLabel('URL').fill(product.demoDestination);
  const append = (name: string, value: object) => ({
    type: 'append',
    options: { location: 'header', name, ...value },
  });
  const steps = page.getByLabel('Steps of the request (JSON)');
  const first = append('X-Key', { value: 'typed once and never shown' });
  await steps.fill(JSON.stringify([first]));
  await button('Create this proxy').click();
  await button('I have kept it').click();
  await heading('Proxy').waitFor();
  const path = pathOfPage();
  const shown = JSON.parse(await steps.inputValue()) as object[];
  expect(shown).toEqual([append('X-Key', { value_set: true })]);
  const second = append('X-More', { value: 'more' });
  await steps.fill(JSON.stringify([second, ...shown]));
  await button('Dry run').click();
  await page.getByText('x-key: [redacted]').waitFor();
  await button('Review and save…').click();
  await dialog('Save this proxy').getByRole('button', { name: 'Save', exact: true }).click();
  await saved();
  expect(await stored(path)).toMatchObject({ request_transforms: [second, first] });
});

it('a proxy takes requests of forward mode, and clients get the authority to trust', async () => {
  const { id } = await create(product, '/proxies', {
    ...{ name: 'for forward mode', destination_url: product.demoDestination },
  });
  await page.goto(`/proxies/${id}`);
  const hosts = page.getByLabel('Requests to these hosts go through it (one a line)');
  await hosts.fill('made-in-the-page.example\n*.made-in-the-page.example');
  await page.getByLabel('Of these methods (one a line)').fill('POST');
  // The browser is another user, who cannot write where these specs could read it.
  const [file, answer] = await Promise.all([
    page.waitForEvent('download'),
    page.waitForResponse((each) => each.url().endsWith('/api/tenants/self/forward-ca')),
    button('Download the certificate authority').click(),
  ]);
  expect(file.suggestedFilename()).toBe('glovebox-forward-ca.pem');
  const { certificates } = (await answer.json()) as { certificates: string };
  expect(new X509Certificate(certificates).ca).toBe(true);
  await button('Review and save…').click();
  await dialog('Save this proxy').getByRole('button', { name: 'Save', exact: true }).click();
  await saved();
  expect(await stored(`/proxies/${id}`)).toMatchObject({
    match: {
      hosts: ['made-in-the-page.example', '*.made-in-the-page.example'],
      methods: ['POST'],
    },
  });
});

it('leaving an editor asks first, and a session that ends keeps what was typed', async () => {
  const made = await create(product, '/proxies', {
    ...{ name: 'before', destination_url: product.demoDestination },
  });
  await page.goto('/proxies');
  await page.getByRole('link', { name: 'before', exact: true }).first().click();
  const name = page.getByLabel('Name', { exact: true });
  await name.fill('typed');
  const unload = `(() => {
    const event = new Event('beforeunload', { cancelable: true });
    dispatchEvent(event);
    return event.defaultPrevented;
  })()`;
  expect(await page.evaluate(unload)).toBe(true);
  await page.getByRole('link', { name: 'Runs', exact: true }).first().click();
  await dialog('Leave without saving?').getByRole('button', { name: 'Stay here' }).click();
  await page.evaluate('history.back()');
  await dialog('Leave without saving?').getByRole('button', { name: 'Stay here' }).click();
  await dialog('Leave without saving?').waitFor({ state: 'detached' });
  expect(pathOfPage()).toBe(`/proxies/${made.id}`);

  const key = await page.evaluate<string>("sessionStorage.getItem('glovebox.session-key')");
  await call('DELETE', `${product.consoleUrl}/api/console/session`, { key });
  await button('Review and save…').click();
  await dialog('Save this proxy').getByRole('button', { name: 'Save', exact: true }).click();
  const over = dialog('Your session has ended');
  await over.getByLabel('Link or code').fill(await makeLink('admin'));
  await over.getByRole('button', { name: 'Sign in', exact: true }).click();
  await over.waitFor({ state: 'detached' });
  expect(await name.inputValue()).toBe('typed');
  await dialog('Save this proxy').getByRole('button', { name: 'Save', exact: true }).click();
  await saved();
  expect(await stored(`/proxies/${made.id}`)).toMatchObject({ name: 'typed' });
  expect(await page.evaluate(unload)).toBe(false);

  await name.fill('lost');
  await page.getByRole('link', { name: 'Runs', exact: true }).first().click();
  await button('Leave, and lose it').click();
  await heading('Runs').waitFor();
});
