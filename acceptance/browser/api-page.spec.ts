import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { runningProduct } from '../product';
import { startBrowser, type OpenBrowser } from './browser';

const product = runningProduct();
let open: OpenBrowser;
let page: Page;
/** What the page asked for, and what its console said. */
const asked: string[] = [];
const said: string[] = [];

beforeAll(async () => {
  open = await startBrowser();
  page = await open.browser.newPage();
  page.on('request', (request) => asked.push(request.url()));
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(String(error)));
  await page.goto(`${product.baseUrl}/docs`);
});
afterAll(() => open.close());

it('the page of the API is one request, and its policy lets it run', () => {
  expect([asked, said]).toEqual([[`${product.baseUrl}/docs`], []]);
});

it('the page of the API is accessible', async () => {
  const found = (await page.evaluate(`${axe.source}; axe.run()`)) as axe.AxeResults;
  expect(found.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`)).toEqual([]);
});

it('the search shows what has all the words, and a link shows what it names', async () => {
  await page.keyboard.press('/');
  await page.keyboard.type('token permissions application:create');
  const shown = (id: string): Promise<boolean> => page.locator(`section#${id}`).isVisible();
  expect([await shown('createApplication'), await shown('deleteProxy')]).toEqual([true, false]);
  expect(await page.getByRole('status').textContent()).toMatch(/^\d+ found$/);
  await page.evaluate("location.hash = '#deleteProxy'");
  await page.locator('section#deleteProxy').waitFor({ state: 'visible' });
  await page.getByRole('link', { name: 'GET /tokens/{id}', exact: true }).click();
  expect(await page.locator('section:target').getAttribute('id')).toBe('getToken');
});
