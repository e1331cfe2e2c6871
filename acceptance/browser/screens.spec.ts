import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { useConsoles } from './console';
import { everyScreen } from './screens';

const { openConsole, openTab } = useConsoles();
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

let paths: string[];
let page: Page;
beforeAll(async () => {
  [paths, page] = await Promise.all([everyScreen(), openConsole()]);
});

async function show(path: string, on = page): Promise<void> {
  await on.goto(path);
  await on.getByRole('heading', { level: 1 }).waitFor();
  await on.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
}

/** Rules of axe-core that the page breaks, each with the first place. */
async function broken(on = page, options = '{}'): Promise<string[]> {
  // By the debugger, since the CSP lets no other script in.
  await on.evaluate(axe);
  // What holds of five rows holds of a hundred.
  const some = "{ exclude: ['tbody tr:nth-child(n+6)'] }";
  const { violations } = await on.evaluate<{ violations: Violation[] }>(
    `axe.run(${some}, { resultTypes: ['violations'], ...${options} })`,
  );
  return violations.map(
    ({ id, nodes }) => `${new URL(on.url()).pathname} ${id}: ${nodes[0]?.html}`,
  );
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

it('axe-core finds nothing on any screen, and enough contrast in the dark', async () => {
  const signedOut = await openTab();
  await signedOut.goto('/');
  await signedOut.getByLabel('Link or code').waitFor();
  const found = await broken(signedOut);
  for (const path of [...paths, '/nowhere']) {
    await show(path);
    found.push(...(await broken()));
    await page.emulateMedia({ colorScheme: 'dark' });
    found.push(...(await broken(page, "{ runOnly: ['color-contrast'] }")));
    await page.emulateMedia({ colorScheme: 'light' });
  }
  expect(found).toEqual([]);
}, 90_000);

it('axe-core finds what is planted in a screen', async () => {
  await show('/');
  await page.evaluate(
    "document.querySelector('main').insertAdjacentElement('beforeend', document.createElement('button'))",
  );
  expect(await broken()).toEqual([expect.stringContaining('button-name')]);
});

it('no screen scrolls sideways at 360 px', async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  const wide: string[] = [];
  for (const path of paths) {
    await show(path);
    const width = await page.evaluate<number>('document.scrollingElement.scrollWidth');
    if (width > 360) wide.push(`${path} is ${width} px wide`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(wide).toEqual([]);
});

/** What can be reached by the tab key, and what could be clicked. */
const controls = `(() => {
  const shown = (element) => element.checkVisibility({ visibilityProperty: true });
  return [...document.querySelectorAll('a[href], button, input, select, textarea, summary')]
    .filter((element) => shown(element) && !element.disabled).length;
})()`;
const focused = `(() => {
  const inner = (element) => element?.shadowRoot?.activeElement ? inner(element.shadowRoot.activeElement) : element;
  const { activeElement: outer } = document;
  if (!outer || outer === document.body) return 'nothing';
  let isShown = outer.type === 'datetime-local'; // The browser marks the part of it that has the focus.
  for (let at = inner(outer); at; at = at.parentElement) {
    const { outlineStyle, boxShadow } = getComputedStyle(at);
    isShown ||= outlineStyle !== 'none' || boxShadow !== 'none';
  }
  const at = [...document.querySelectorAll('*')].indexOf(outer);
  return at + (isShown ? '' : ' without a ring: ' + outer.outerHTML.slice(0, 150));
})()`;

/** An editor marks itself a moment after it got the focus. */
async function settledFocus(): Promise<string> {
  const now = await page.evaluate<string>(focused);
  if (!now.includes('without')) return now;
  const marked = `(${focused}).includes('without') ? '' : ${focused}`;
  const handle = await page
    .waitForFunction(marked, undefined, { timeout: 1_000 })
    .catch(() => null);
  return handle ? String(await handle.jsonValue()) : now;
}

it('each screen is used by keyboard alone: every control is reached, with a ring around it', async () => {
  const wrong: string[] = [];
  for (const path of paths) {
    await show(path);
    const wanted = await page.evaluate<number>(controls);
    const reached = new Set<string>();
    for (let at = 0; at < 2 * wanted + 20 && reached.size < wanted; at += 1) {
      await page.keyboard.press('Tab');
      const now = await settledFocus();
      // Between the last control and the first one stands the browser itself.
      if (now !== 'nothing') reached.add(now);
    }
    const ringless = [...reached].filter((each) => each.includes('without'));
    if (reached.size < wanted) wrong.push(`${path}: ${reached.size} of ${wanted} controls`);
    wrong.push(...ringless.map((each) => `${path}: ${each}`));
  }
  expect(wrong).toEqual([]);
});

it('the overview leads to a call by keys alone, and the skip link to the content', async () => {
  await show('/');
  await tabTo("document.activeElement.textContent === 'To the content'");
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.activeElement.id')).toBe('main');
  await tabTo("document.activeElement.getAttribute('href')?.startsWith('/calls/')");
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Call', level: 1 }).waitFor();
});

async function tabTo(condition: string): Promise<void> {
  for (let at = 0; at < 300; at += 1) {
    await page.keyboard.press('Tab');
    if (await page.evaluate<boolean>(condition)) return;
  }
  throw new Error(`not reached: ${condition}`);
}
