import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { call, scriptEnvironment, runningProduct, type Product } from '../product';
import { startBrowser, type OpenBrowser } from './browser';

export type Role = 'viewer' | 'author' | 'admin';

export const product = runningProduct() as Product & {
  readonly consoleUrl: string;
  readonly demoDestination: string;
  readonly tenantId: string;
};

const keyItem = 'glovebox.session-key';
export const storedKey = `sessionStorage.getItem('${keyItem}') ?? ''`;

/** Makes a link that signs in once. */
export async function makeLink(
  role: Role = 'admin',
  tenantId: string = product.tenantId,
): Promise<string> {
  const script = join(__dirname, '../../tools/console-link.mjs');
  const args = [script, tenantId, '--role', role];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: scriptEnvironment(),
  });
  return stdout.trim();
}

/** Signs in as the page does with a link. Returns the key of the session. */
async function signIn(role: Role, tenantId: string): Promise<string> {
  const { hash } = new URL(await makeLink(role, tenantId));
  const code = hash.slice('#code='.length);
  const url = `${product.consoleUrl}/api/console/sessions`;
  return String((await call('POST', url, { body: { code } })).body.key);
}

/** A status that a test asks for. The browser writes a line for each, whatever the page does. */
const isOfAnswer = (text: string): boolean => text.startsWith('Failed to load resource');

/** What a page of the console must never do, gathered over all pages of a context. */
function watch(context: BrowserContext, origin: string, issuers: readonly string[]): string[] {
  const faults: string[] = [];
  const isOfIssuer = (url = ''): boolean => issuers.some((each) => url.startsWith(`${each}/`));
  context.on('request', (request) => {
    const url = request.url();
    if (isOfIssuer(url) || (!request.isNavigationRequest() && isOfIssuer(request.frame().url())))
      return;
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) {
      faults.push(`a request to another origin: ${url}`);
    }
  });
  context.on('console', (message) => {
    const text = message.text();
    if (isOfIssuer(message.page()?.url())) return;
    if (message.type() === 'error' && !isOfAnswer(text)) faults.push(`on its console: ${text}`);
  });
  context.on('weberror', (error) => faults.push(`thrown: ${String(error.error())}`));
  context.on('dialog', (dialog) => {
    faults.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return faults;
}

export interface Consoles {
  readonly browser: () => Browser;
  /** Opens a tab that nobody is signed in to. It may go to these issuers, and come back. */
  openTab(
    options?: BrowserContextOptions,
    origin?: string,
    issuers?: readonly string[],
  ): Promise<Page>;
  /** Opens the console in a context of its own, in the session that this file has for the role. */
  openConsole(role?: Role, options?: BrowserContextOptions): Promise<Page>;
}

/**
 * A browser for the tests of one file. After each test, a request to another origin, an error on the
 * page's console, a violation of its CSP or a dialog fails it. Signs in to the tenant.
 */
export function useConsoles(tenantId: () => string = () => product.tenantId): Consoles {
  let opened: OpenBrowser;
  const faults: string[][] = [];
  const sessions: Partial<Record<Role, Promise<string>>> = {};
  beforeAll(async () => {
    opened = await startBrowser();
  });
  afterEach(() => expect(faults.flatMap((each) => each.splice(0))).toEqual([]));
  afterAll(() => opened.close());

  const openTab: Consoles['openTab'] = async (
    options = {},
    origin = product.consoleUrl,
    issuers = [],
  ) => {
    const context = await opened.browser.newContext({ baseURL: origin, ...options });
    context.setDefaultTimeout(10_000);
    faults.push(watch(context, origin, issuers));
    return context.newPage();
  };
  return {
    browser: () => opened.browser,
    openTab,
    async openConsole(role = 'admin', options = {}) {
      const key = await (sessions[role] ??= signIn(role, tenantId()));
      const page = await openTab(options);
      await page.addInitScript(`sessionStorage['${keyItem}'] ??= ${JSON.stringify(key)}`);
      await page.goto('/');
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
      return page;
    },
  };
}
