import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { call, create, runningProduct } from '../product';
import { startReceiver, type Receiver } from '../receiver';
import { startBrowser, type OpenBrowser } from './browser';

const product = runningProduct();
const { baseUrl, privateKey } = product;
const json = 'application/json';

/** A call that a page makes with `fetch`. */
interface PageCall {
  readonly path: string;
  readonly init?: RequestInit & { readonly headers?: Record<string, string> };
}

/** What the page could see of the answer. */
interface Seen {
  readonly error?: string;
  readonly status?: number;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A site with one page. */
interface Site {
  readonly origin: string;
  /** Shows the page in the browser. */
  shows(html: string): Promise<Page>;
  close(): Promise<void>;
}

async function startSite(): Promise<Site> {
  let shown = '<!doctype html><title>shop</title>';
  const server = await startReceiver((res) => {
    res.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(shown);
  });
  const page = await opened.browser.newPage();
  return {
    origin: server.url,
    async shows(html) {
      shown = html;
      await page.goto(server.url);
      return page;
    },
    async close() {
      await page.close();
      await server.close();
    },
  };
}

/** Runs in the page. */
const script = async (given: string): Promise<Seen[]> => {
  const [origin, calls] = JSON.parse(given) as [string, readonly PageCall[]];
  const seen: Seen[] = [];
  for (const { path, init } of calls) {
    try {
      const answer = await fetch(origin + path, init);
      const headers = Object.fromEntries(answer.headers);
      seen.push({ status: answer.status, text: await answer.text(), headers });
    } catch (error) {
      seen.push({ error: (error as Error).name });
    }
  }
  return seen;
};

/** Shows a page that makes these calls. Returns what it saw. */
async function callsOf(site: Site, calls: readonly PageCall[]): Promise<readonly Seen[]> {
  const page = await site.shows('<!doctype html><title>shop</title>');
  return page.evaluate(script, JSON.stringify([baseUrl, calls]));
}

let opened: OpenBrowser;
let shop: Site;
let other: Site;
let shopKey: string;

beforeAll(async () => {
  opened = await startBrowser();
  [shop, other] = await Promise.all([startSite(), startSite()]);
  const page = { type: 'public', permissions: ['token:create', 'token:update'] };
  const [made] = await Promise.all([
    create(product, '/applications', { ...page, name: 'shop', allowed_origins: [shop.origin] }),
    // The preflight of the other page passes because of this one.
    create(product, '/applications', { ...page, name: 'other', allowed_origins: [other.origin] }),
  ]);
  shopKey = String(made.key);
});
afterAll(async () => {
  await Promise.all([shop.close(), other.close()]);
  await opened.close();
});

const send = (
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = { 'SVC-API-KEY': shopKey },
  init: RequestInit = {},
): PageCall => {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : json;
  return {
    path,
    init: {
      ...init,
      method,
      headers: { 'Content-Type': type, ...headers },
      body: JSON.stringify(body),
    },
  };
};

const token = (marker: string) => ({ data: '4242', metadata: { marker } });
const storedWith = async (marker: string): Promise<number> => {
  const url = `${baseUrl}/tokens?metadata.marker=${marker}`;
  return ((await call('GET', url, { key: privateKey })).body.data as unknown[]).length;
};

it('a listed page creates, changes and tokenizes, and reads answers, errors and trace ids', async () => {
  const { id } = await create(product, '/tokens', token('before'), privateKey);
  const key = { 'SVC-API-KEY': shopKey };
  const seen = await callsOf(shop, [
    send('POST', '/tokens', token('listed'), { ...key, 'SVC-IDEMPOTENCY-KEY': id }),
    send('PATCH', `/tokens/${id}`, { metadata: { marker: 'after' } }),
    send('POST', '/tokenize', { name: 'Ada' }, { ...key, 'SVC-TRACE-ID': 'of-the-page' }),
    send('POST', '/tokens', { type: 'nothing' }),
    send('POST', '/tokens', token('unknown'), { 'SVC-API-KEY': 'nobody' }),
    send('POST', '/tokens', { ...token('mistyped'), metdata: {} }),
    send('POST', '/tokens', { ...token('strict'), metdata: {} }, { ...key, 'SVC-STRICT': 'true' }),
  ]);
  expect(seen.map(({ status, error }) => status ?? error)).toEqual([
    201, 200, 201, 400, 401, 201, 400,
  ]);
  expect(seen.map(({ headers }) => headers?.['svc-unknown-members'])).toEqual([
    ...Array.from({ length: 5 }),
    'metdata',
    'metdata',
  ]);
  expect(seen.map(({ headers }) => headers?.['svc-trace-id'])).toEqual([
    expect.any(String),
    expect.any(String),
    'of-the-page',
    expect.any(String),
    expect.any(String),
    expect.any(String),
    expect.any(String),
  ]);
  expect(JSON.parse(seen[6]?.text ?? '')).toMatchObject({ code: 'validation_failed' });
  expect(JSON.parse(seen[0]?.text ?? '')).toMatchObject({ metadata: { marker: 'listed' } });
  expect(JSON.parse(seen[3]?.text ?? '')).toMatchObject({ code: 'validation_failed' });
  expect(JSON.parse(seen[4]?.text ?? '')).toMatchObject({ code: 'invalid_api_key' });
  expect(seen[0]?.headers).not.toHaveProperty('x-frame-options');
  expect([await storedWith('listed'), await storedWith('after')]).toEqual([1, 1]);
});

it('the page of docs/tokens.md stores what its visitor types', async () => {
  const text = readFileSync(join(__dirname, '../../docs/tokens.md'), 'utf8');
  const [, documented = ''] = /```html\n([^]*?)```/.exec(text) ?? [];
  const page = await shop.shows(
    documented.replace('https://vault.example', baseUrl).replace('key_of_the_application', shopKey),
  );
  await page.fill('[name=number]', '4242424242424242');
  await page.click('button');
  await page.waitForFunction("document.querySelector('output').value");
  const id = await page.textContent('output');
  const stored = await call('GET', `${baseUrl}/tokens/${id}`, { key: privateKey });
  expect(stored.body).toMatchObject({ type: 'card_number', data: 'XXXXXXXXXXXX4242' });
});

it('a listed page is kept from all else', async () => {
  const { id } = await create(product, '/tokens', token('kept'), privateKey);
  const headers = { 'SVC-API-KEY': shopKey };
  const seen = await callsOf(shop, [
    { path: `/tokens/${id}`, init: { headers } },
    { path: `/tokens/${id}`, init: { method: 'DELETE', headers } },
    send('POST', '/tokens/search', { query: 'type:token' }),
    send('POST', '/tokens', token('credentials'), headers, { credentials: 'include' }),
    send('POST', '/tokens', token('header'), { ...headers, 'X-Else': 'x' }),
    send('POST', '/tokens', token('private'), { 'SVC-API-KEY': privateKey }),
  ]);
  expect(seen).toEqual(seen.map(() => ({ error: 'TypeError' })));
  expect(await storedWith('kept')).toBe(1);
  // The browser sends nothing where the preflight does not allow it.
  expect([await storedWith('credentials'), await storedWith('header')]).toEqual([0, 0]);
});

it('another page reads nothing with the key, and stores nothing', async () => {
  const seen = await callsOf(other, [
    send('POST', '/tokens', token('stolen')),
    send('POST', '/tokenize', { stolen: { ...token('stolen'), type: 'token' } }),
    send('POST', '/tokens', token('stolen'), { 'SVC-API-KEY': 'nobody' }),
  ]);
  expect(seen.map(({ status, error }) => status ?? error)).toEqual(['TypeError', 'TypeError', 401]);
  expect(await storedWith('stolen')).toBe(0);
});

describe('through an anonymous proxy', () => {
  let destination: Receiver;
  const proxyOf = async (more: object): Promise<string> => {
    const proxy = { name: 'page', destination_url: destination.url, require_auth: false };
    return String((await create(product, '/proxies', { ...proxy, ...more })).key);
  };

  beforeAll(async () => {
    destination = await startReceiver((res) => {
      res.writeHead(200, { 'Access-Control-Allow-Origin': '*', 'Content-Type': json });
      res.end('{"from":"destination"}');
    });
  });
  afterAll(() => destination.close());

  it('a listed page reads answers, and another page reads and reaches nothing', async () => {
    const key = await proxyOf({ allowed_origins: [shop.origin] });
    const calls = [
      { path: `/proxy/query?svc-proxy-key=${key}` },
      send('POST', '/proxy/header', {}, { 'SVC-PROXY-KEY': key }),
      send('PUT', `/proxy/preflight?svc-proxy-key=${key}`, {}, {}),
    ];
    const seen = await callsOf(shop, calls);
    expect(seen.map(({ text }) => text)).toEqual(seen.map(() => '{"from":"destination"}'));
    expect(seen.map(({ headers }) => headers?.['svc-proxy-destination-status'])).toEqual(
      seen.map(() => '200'),
    );
    const reached = destination.received.length;
    expect(await callsOf(other, calls)).toEqual(calls.map(() => ({ error: 'TypeError' })));
    expect(destination.received).toHaveLength(reached);
  });

  it('of no origins every page reads what the destination lets it read', async () => {
    const key = await proxyOf({});
    const [seen] = await callsOf(other, [{ path: `/proxy?svc-proxy-key=${key}` }]);
    expect([seen?.status, seen?.text]).toEqual([200, '{"from":"destination"}']);
  });
});
