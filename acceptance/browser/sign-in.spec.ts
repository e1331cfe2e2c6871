import { call } from '../product';
import { makeLink, product, useConsoles } from './console';

const { openTab, openConsole } = useConsoles();
const api = (path: string, key: string) => call('GET', `${product.consoleUrl}/api${path}`, { key });
const storedKey = "sessionStorage.getItem('glovebox.session-key') ?? ''";

it('a link signs in once and never again, and its code is left in no address and no history', async () => {
  const link = await makeLink();
  const code = new URL(link).hash.slice('#code='.length);
  const first = await openTab();
  await first.goto(link);
  await first.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  expect(first.url()).not.toContain(code);
  const kept = await first.evaluate<string>(
    `JSON.stringify([location.href, history.state, document.referrer, { ...sessionStorage },
      { ...localStorage }, document.cookie, document.documentElement.outerHTML])`,
  );
  expect(kept).not.toContain(code);
  await first.reload();
  await first.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();

  const second = await openTab();
  await second.goto(link);
  await second.getByRole('alert').waitFor();
  expect(await second.getByRole('heading', { name: 'Overview' }).count()).toBe(0);
  expect(await second.evaluate(storedKey)).toBe('');
});

it('after the sign-out the session key is dead at every endpoint within a second', async () => {
  const page = await openConsole('viewer');
  const key = await page.evaluate<string>(storedKey);
  const paths = ['/overview', '/calls', '/runs', '/tokens', '/reactors', '/console/session'];
  const statuses = async () =>
    Promise.all(paths.map(async (path) => (await api(path, key)).status));
  expect(await statuses()).toEqual(paths.map(() => 200));
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Link or code').waitFor();
  const begun = performance.now();
  while (!(await statuses()).every((status) => status === 401)) {
    if (performance.now() - begun > 1_000) throw new Error('alive after a second');
  }
  expect(await page.evaluate(storedKey)).toBe('');
  await page.goBack();
  expect(await page.getByRole('table').count()).toBe(0);
});

it('two tabs have two sessions: one that is opened from the other has to sign in', async () => {
  const page = await openConsole('viewer');
  const other = await page.context().newPage();
  await other.goto('/calls');
  await other.getByLabel('Link or code').waitFor();
  expect(await other.evaluate(storedKey)).toBe('');
});
