import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { call } from '../product';
import { makeLink, product, storedKey, useConsoles } from './console';

const { openTab, openConsole } = useConsoles();
const openapi = JSON.parse(readFileSync(join(__dirname, '../../docs/openapi.json'), 'utf8')) as {
  readonly paths: Readonly<Record<string, object>>;
};

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

/** Every operation of the API that the console may use, with ids of nothing. */
const operations = Object.entries(openapi.paths)
  // The gateway alone serves these.
  .filter(([path]) => !/^\/proxy(\/|$)|\/react$/.test(path))
  .flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((each) => ['get', 'put', 'post', 'patch', 'delete'].includes(each))
      .map((each) => [each.toUpperCase(), path.replaceAll(/\{\w+\}/g, randomUUID())] as const),
  )
  .concat([
    ['GET', '/console/session'],
    ['POST', '/console/reveals'],
  ]);

it('after the sign-out the session key is dead at every endpoint within a second', async () => {
  const page = await openTab();
  await page.goto(await makeLink());
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  const key = await page.evaluate<string>(storedKey);
  const statuses = (some: typeof operations) =>
    Promise.all(
      some.map(async ([method, path]) => {
        const { status } = await call(method, `${product.consoleUrl}/api${path}`, { key });
        return `${method} ${path} ${status}`;
      }),
    );
  const read = operations.filter(([method]) => method === 'GET');
  expect((await statuses(read)).filter((each) => each.endsWith(' 401'))).toEqual([]);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Link or code').waitFor();
  const begun = performance.now();
  let alive: readonly string[] = [''];
  while (alive.length > 0) {
    alive = (await statuses(operations)).filter((each) => !each.endsWith(' 401'));
    if (performance.now() - begun > 1_000) break;
  }
  expect(alive).toEqual([]);
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
