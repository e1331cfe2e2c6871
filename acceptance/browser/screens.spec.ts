import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { until } from '../product';
import { product, storedKey, useConsoles, type Role } from './console';
import { payloads } from './payloads';
import { plantEverywhere } from './planted';

const { openConsole, openTab } = useConsoles();
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** What was seen on the one walk over all screens, each of them shown once. */
const found = {
  brokenRules: [] as string[],
  wide: [] as string[],
  keyboard: [] as string[],
  ran: [] as string[],
  answers: [] as Promise<string>[],
  /** All that a screen holds, by its path. */
  documents: new Map<string, string>(),
};
let planted: Awaited<ReturnType<typeof plantEverywhere>>;
let page: Page;

beforeAll(async () => {
  planted = await plantEverywhere();
  const pages = await Promise.all([openConsole(), openConsole()]);
  [page] = pages;
  const left = [...planted.paths, '/nowhere'];
  const walk = async (walker: Page): Promise<void> => {
    await walker.exposeFunction('ran', (what: string) => found.ran.push(what));
    walker.on('response', (answer) => {
      if (answer.url().includes('/api/')) found.answers.push(answer.text().catch(() => ''));
    });
    for (let path = left.shift(); path !== undefined; path = left.shift()) {
      await lookAt(path, walker);
    }
  };
  await Promise.all(pages.map(walk));
});

async function lookAt(path: string, walker: Page): Promise<void> {
  await show(path, walker);
  await walker.setViewportSize({ width: 360, height: 740 });
  const width = await walker.evaluate<number>('document.scrollingElement.scrollWidth');
  if (width > 360) found.wide.push(`${path} is ${width} px wide`);
  await walker.setViewportSize({ width: 1280, height: 800 });
  found.documents.set(path, await walker.evaluate(allOfIt));
  await walker.evaluate(hideRepetitions);
  found.brokenRules.push(...(await broken(walker)));
  await walker.emulateMedia({ colorScheme: 'dark' });
  found.brokenRules.push(...(await broken(walker, "{ runOnly: ['color-contrast'] }")));
  await walker.emulateMedia({ colorScheme: 'light' });
  found.keyboard.push(...(await walkByKeys(path, walker)));
}

/** Goes there as a link does: the page stays, so that it is read and compiled once. */
async function show(path: string, on = page): Promise<void> {
  await on.evaluate(`(() => {
    document.adoptedStyleSheets = [];
    const { pathname } = new URL(${JSON.stringify(path)}, location.href);
    if (pathname !== location.pathname) document.querySelector('h1').isOfBefore = true;
    history.pushState(null, '', ${JSON.stringify(path)});
  })()`);
  const isShown = "document.querySelector('h1')?.isOfBefore === undefined";
  await until(() => on.evaluate<boolean>(`${isShown} && document.querySelector('h1') !== null`));
  await on.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
}

/** With the editors, which are in shadow roots, and what was typed or filled in. */
const allOfIt = `(() => {
  const inside = (root) => root.innerHTML + [...root.querySelectorAll('*')]
    .map(({ shadowRoot, value }) => (shadowRoot ? inside(shadowRoot) : '') + (value ?? '')).join(' ');
  return [location.href, JSON.stringify([{ ...sessionStorage }, { ...localStorage }, history.state]),
    document.cookie, document.documentElement.innerText, inside(document.documentElement)].join(' ');
})()`;

/** What holds of five rows holds of a hundred. */
const hideRepetitions = `(() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('tbody tr:nth-child(n+6), .console-lines li:nth-child(n+6), [aria-label=Metadata] > :nth-child(n+6) { display: none }');
  document.adoptedStyleSheets.push(sheet);
})()`;

/** Rules of axe-core that the page breaks, each with the first place. */
async function broken(on = page, options = '{}'): Promise<string[]> {
  // By the debugger, since the CSP lets no other script in.
  if (!(await on.evaluate('window.axe !== undefined'))) await on.evaluate(axe);
  return on.evaluate<string[]>(
    `axe.run({ resultTypes: ['violations'], ...${options} }).then(({ violations }) =>
      violations.map(({ id, nodes }) => location.pathname + ' ' + id + ': ' + nodes[0]?.html))`,
  );
}

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
async function settledFocus(walker: Page): Promise<string> {
  const now = await walker.evaluate<string>(focused);
  if (!now.includes('without')) return now;
  let then = now;
  const marked = async () => !(then = await walker.evaluate<string>(focused)).includes('without');
  await until(marked, 1_000).catch(() => undefined);
  return then;
}

async function walkByKeys(path: string, walker: Page): Promise<string[]> {
  const wanted = await walker.evaluate<number>(controls);
  const reached = new Set<string>();
  for (let at = 0; at < 2 * wanted + 20 && reached.size < wanted; at += 1) {
    await walker.keyboard.press('Tab');
    const now = await settledFocus(walker);
    // Between the last control and the first one stands the browser itself.
    if (now !== 'nothing') reached.add(now);
  }
  const wrong = [...reached].filter((each) => each.includes('without'));
  if (reached.size < wanted) wrong.push(`${reached.size} of ${wanted} controls`);
  return wrong.map((each) => `${path}: ${each}`);
}

it('axe-core finds nothing on any screen, and enough contrast in the dark', async () => {
  const signedOut = await openTab();
  await signedOut.goto('/');
  await signedOut.getByLabel('Link or code').waitFor();
  expect([...found.brokenRules, ...(await broken(signedOut))]).toEqual([]);
});

it('axe-core finds what is planted in a screen', async () => {
  await show('/');
  await page.evaluate(
    "document.querySelector('main').insertAdjacentElement('beforeend', document.createElement('button'))",
  );
  expect(await broken()).toEqual([expect.stringContaining('button-name')]);
});

it('no screen scrolls sideways at 360 px', () => expect(found.wide).toEqual([]));

it('each screen is used by keyboard alone: every control is reached, with a ring around it', () =>
  expect(found.keyboard).toEqual([]));

describe('text of others, in 60 spellings that want to run', () => {
  const spellingsOn = (path: string): number => {
    const [, text = ''] =
      [...found.documents].find(
        ([each]) => each === path || (path.endsWith('/') && each.startsWith(path)),
      ) ?? [];
    return new Set([...text.matchAll(/ran\((?:'|&#39;)(\d+)/g)].map(([, at]) => at)).size;
  };

  it('runs on no screen', () => {
    expect(payloads).toHaveLength(60);
    const shown = [...found.documents].map(([path, text]) =>
      text.startsWith(product.consoleUrl + path),
    );
    expect(shown).toEqual([...planted.paths, '/nowhere'].map(() => true));
    expect(found.ran).toEqual([]);
  });

  it('hides nothing: control and bidi characters are shown as code points', () => {
    const hidden = [...found.documents].map(([path, text]) => {
      const [at] = /.{0,40}[\u0001\u202a-\u202e\u2028\u2029\ufeff].{0,40}/s.exec(text) ?? [];
      return `${path} ${at === undefined ? 'none' : encodeURIComponent(at)}`;
    });
    expect(hidden.filter((each) => !each.endsWith('none'))).toEqual([]);
  });

  it('is shown in names, code, console lines and metadata, and is no host of a callback', () => {
    expect(planted.callbackHosts).toEqual(payloads.map(() => 400));
    for (const path of ['/runs/', '/tokens/'])
      expect([path, spellingsOn(path)]).toEqual([path, 60]);
    for (const path of ['/proxies', '/reactors', '/applications']) {
      expect([path, spellingsOn(path) > 40]).toEqual([path, true]);
    }
  });
});

it('what is secret is in no address, storage, document or answer of any screen before a reveal', async () => {
  const answers = await Promise.all(found.answers);
  expect(answers.length).toBeGreaterThan(planted.paths.length);
  const key = await page.evaluate<string>(storedKey);
  const seen = [
    ...[...found.documents].map(([path, text]) => [path, text.replaceAll(key, '')] as const),
    ...answers.map((text) => ['an answer', text] as const),
  ].flatMap(([where, text]) =>
    planted.secrets.filter((each) => text.includes(each)).map((each) => `${where}: ${each}`),
  );
  expect(seen).toEqual([]);
});

const ofReaders =
  /^(1 hour|24 hours|7 days|Ask|Clear|Copy .*|Download the certificate authority|Load (more|older)|Open|Pause|Search|Show (all \d+ lines|who asks))$/;
const ofAuthors = ['Dry run', 'Review and save…', 'Run again…', 'Send again by filter…'];
const ofAdmins = ['Make a key', 'Add a rule', 'New application', 'Reveal…'];

/** Buttons of all screens, each of which is asked for by its URL. */
async function buttonsOf(role: Role): Promise<readonly string[]> {
  const person = await openConsole(role);
  const names = new Set<string>();
  for (const path of planted.paths) {
    await show(path, person);
    const shown = await person.evaluate<string[]>(
      `[...document.querySelectorAll('main button, main a.button')]
        .map(({ ariaLabel, innerText }) => (ariaLabel ?? innerText).replaceAll(/\\s+/g, ' '))`,
    );
    for (const name of shown) names.add(name);
  }
  return [...names];
}

it('a viewer sees no button that changes something, and an author none of an admin', async () => {
  const [viewer, author, admin] = await Promise.all([
    buttonsOf('viewer'),
    buttonsOf('author'),
    buttonsOf('admin'),
  ]);
  expect(viewer.filter((name) => !ofReaders.test(name))).toEqual([]);
  expect(ofAuthors.filter((name) => !author.includes(name))).toEqual([]);
  expect(ofAdmins.filter((name) => author.includes(name))).toEqual([]);
  expect(ofAdmins.filter((name) => !admin.includes(name))).toEqual([]);
});

it('the overview leads to a call by keys alone, and the skip link to the content', async () => {
  await page.goto('/');
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
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
