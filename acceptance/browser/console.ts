import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { scriptEnvironment, runningProduct, type Product } from '../product';
import { startBrowser, type OpenBrowser } from './browser';

type Role = 'viewer' | 'author' | 'admin';

export const product = runningProduct() as Product & {
  readonly consoleUrl: string;
  readonly demoDestination: string;
};

/** Makes a link that signs in once. */
export async function makeLink(role: Role = 'admin'): Promise<string> {
  const script = join(__dirname, '../../tools/console-link.mjs');
  const args = [script, '--role', role];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: scriptEnvironment(),
  });
  return stdout.trim();
}

/** A status that a test asks for. The browser writes a line for each, whatever the page does. */
const isOfAnswer = (text: string): boolean => text.startsWith('Failed to load resource');

/** What a page of the console must never do, gathered over all pages of a context. */
function watch(context: BrowserContext, origin: string): string[] {
  const faults: string[] = [];
  context.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) {
      faults.push(`a request to another origin: ${url}`);
    }
  });
  context.on('console', (message) => {
    const text = message.text();
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
  /** Opens a tab that nobody is signed in to. */
  openTab(options?: BrowserContextOptions, origin?: string): Promise<Page>;
  /** Opens the console by a link, in a context of its own. */
  openConsole(role?: Role, options?: BrowserContextOptions): Promise<Page>;
}

/**
 * A browser for the tests of one file. After each test, a request to another origin, an error on the
 * page's console, a violation of its CSP or a dialog fails it.
 */
export function useConsoles(): Consoles {
  let opened: OpenBrowser;
  const faults: string[][] = [];
  beforeAll(async () => {
    opened = await startBrowser();
  });
  afterEach(() => expect(faults.flatMap((each) => each.splice(0))).toEqual([]));
  afterAll(() => opened.close());

  const openTab: Consoles['openTab'] = async (options = {}, origin = product.consoleUrl) => {
    const context = await opened.browser.newContext({ baseURL: origin, ...options });
    context.setDefaultTimeout(10_000);
    faults.push(watch(context, origin));
    return context.newPage();
  };
  return {
    browser: () => opened.browser,
    openTab,
    async openConsole(role, options) {
      const [page, link] = await Promise.all([openTab(options), makeLink(role)]);
      await page.goto(link);
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
      return page;
    },
  };
}
