import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { call, reactorOf, until } from '../product';
import { AppProcess } from '../processes';
import { product, storedKey, useConsoles } from './console';

/** The published provider, in a process of its own. */
const issuerScript = join(__dirname, '../../apps/management-api/src/console/spec-issuer.mjs');
const bindingItem = 'glovebox.sign-in-binding';
const { openTab } = useConsoles();
let issuer: string;
let issuing: ChildProcess;
let origin: string;
let management: AppProcess;
let settings: Record<string, string>;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const answers = (url: string) => until(async () => (await fetch(url)).ok, 30_000);

/** One more management API of the running product: nobody else misses it when it is killed. */
beforeAll(async () => {
  const [port, opsPort, consolePort, issuerPort] = [
    ...[await freePort(), await freePort(), await freePort(), await freePort()],
  ] as [number, number, number, number];
  origin = `http://127.0.0.1:${consolePort}`;
  issuer = `http://127.0.0.1:${issuerPort}`;
  const callback = `${origin}/api/console/oidc/callback`;
  issuing = spawn(process.execPath, [issuerScript, String(issuerPort), callback], {
    stdio: 'ignore',
  });
  settings = {
    ...{ PORT: `${port}`, OPS_PORT: `${opsPort}`, CONSOLE_PORT: `${consolePort}` },
    ...{ OIDC_ISSUER: issuer, OIDC_CLIENT_ID: 'console', OIDC_ALLOW: `127.0.0.1:${issuerPort}` },
    OIDC_CLIENT_SECRET: 'secret of the console',
    OIDC_ROLES: `admins=${product.tenantId}:author,readers=${product.tenantId}:viewer`,
  };
  const first = new AppProcess(product.pids['management-api']);
  management = first.another((own) => ({ ...own, ...settings }));
  await Promise.all([
    answers(`${origin}/api/console`),
    answers(`${issuer}/.well-known/openid-configuration`),
  ]);
});
afterAll(async () => {
  const ended = once(issuing, 'exit');
  issuing.kill();
  await Promise.all([ended, management.end()]);
});

/** Says who one is at the issuer, whose forms these are. */
async function beAtIssuer(page: Page, login: string): Promise<void> {
  await page.waitForURL((url) => url.origin === issuer);
  await page.locator('[name=login]').fill(login);
  await page.locator('[name=password]').fill('x');
  await page.getByRole('button').click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

const byName = (page: Page) => page.getByRole('button', { name: 'Sign in by name' });

it('people sign in at the issuer, and see their name and role', async () => {
  for (const [login, role] of [
    ['ada', 'author'],
    ['ben', 'viewer'],
  ] as const) {
    const page = await openTab({}, origin, [issuer]);
    await page.goto('/calls');
    await byName(page).click();
    await beAtIssuer(page, login);
    await page.getByText(`Person ${login}`).waitFor();
    await page.getByText(`· ${role}`).waitFor();
    expect(await page.evaluate('location.hash + history.state?.key')).not.toContain('code');
    expect(await page.evaluate('Object.keys(sessionStorage)')).not.toContain(bindingItem);
  }
});

it('somebody without a role is told so in words, and has no session', async () => {
  const page = await openTab({}, origin, [issuer]);
  await page.goto('/');
  await byName(page).click();
  await beAtIssuer(page, 'eve');
  await page.getByRole('alert').waitFor();
  expect(await page.getByRole('alert').innerText()).toContain('has no role in this console');
  expect(await page.evaluate(storedKey)).toBe('');
  expect(page.url()).toBe(`${origin}/`);
});

describe('a screen that somebody types in', () => {
  let page: Page;
  let context: BrowserContext;
  let id: string;
  const typed = 'typed before it went away';
  const name = () => page.getByRole('textbox', { name: 'Name', exact: true });
  const code = () => page.getByRole('textbox', { name: 'Code', exact: true });

  beforeAll(async () => {
    id = await reactorOf(product, 'module.exports = async () => ({ raw: 1 });');
    page = await openTab({}, origin, [issuer]);
    context = page.context();
    await page.goto('/');
    await byName(page).click();
    await beAtIssuer(page, 'ada');
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.goto(`/reactors/${id}`);
    await name().fill(typed);
    await code().focus();
    await page.keyboard.press('Control+Home');
    await page.keyboard.insertText(`// ${typed}\n`);
  });
  const isAsTyped = async (): Promise<void> => {
    expect(await name().inputValue()).toBe(typed);
    expect(await code().innerText()).toContain(`// ${typed}`);
  };

  it('keeps what was typed when its session ends, and goes on after a sign-in in a window of its own', async () => {
    const key = await page.evaluate<string>(storedKey);
    await call('DELETE', `${origin}/api/console/session`, { key });
    await page.getByRole('button', { name: 'Dry run' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    const [popup] = await Promise.all([context.waitForEvent('page'), byName(page).click()]);
    // The issuer knows the browser, and asks nothing.
    await dialog.waitFor({ state: 'detached' });
    await until(async () => popup.isClosed());
    await isAsTyped();
  });

  it('shows a banner while the management API is killed, loses nothing and saves when it is back', async () => {
    const killed = management.exit();
    management.signal('SIGKILL');
    await killed;
    await page
      .getByRole('button', { name: /Review and save/ })
      .last()
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: /^Save/ }).click();
    await dialog.getByText('Nothing was changed, as far as we know.').waitFor();
    const banner = page.getByText('The management API is away.', { exact: true });
    await banner.first().waitFor();
    management.restart();
    await page
      .getByRole('status')
      .filter({ hasText: 'What you typed stays here' })
      .waitFor({ state: 'hidden', timeout: 20_000 });
    await dialog.getByRole('button', { name: 'Go on editing' }).click();
    await isAsTyped();
    await page
      .getByRole('button', { name: /Review and save/ })
      .last()
      .click();
    await dialog.getByRole('button', { name: /^Save/ }).click();
    await dialog.waitFor({ state: 'detached' });
    await isAsTyped();
    const url = `${product.baseUrl}/reactors/${id}`;
    expect((await call('GET', url, { key: product.adminKey })).body.name).toBe(typed);
  });
});
