import { call, create, runningProduct, until } from './product';
import { answersIn, talk } from './raw-socket';
import { startReceiver, type Receiver } from './receiver';

const product = runningProduct();
const { baseUrl, adminKey, privateKey } = product;
const shop = 'https://shop-of-browsers.example';
const other = 'https://other-of-browsers.example';
const page = { name: 'page', type: 'public', permissions: ['token:create', 'token:update'] };

interface Page {
  readonly id: string;
  readonly key: string;
}

const pageOf = async (more: object): Promise<Page> => {
  const { id, key } = await create(product, '/applications', { ...page, ...more });
  return { id, key: String(key) };
};

let listed: Page;

beforeAll(async () => {
  listed = await pageOf({ allowed_origins: [shop] });
  await pageOf({ allowed_origins: [other] });
});

const preflight = (path: string, origin: string, method: string) =>
  call('OPTIONS', `${baseUrl}${path}`, {
    headers: { Origin: origin, 'Access-Control-Request-Method': method },
  });

const token = (marker: string) => ({ type: 'token', data: 'x', metadata: { marker } });

const post = (path: string, key: string, origin: string, body: unknown, more = {}) =>
  call('POST', `${baseUrl}${path}`, { key, body, headers: { Origin: origin, ...more } });

const stored = async (marker: string): Promise<number> => {
  const found = await call('GET', `${baseUrl}/tokens?metadata.marker=${marker}`, {
    key: privateKey,
  });
  return (found.body.data as unknown[]).length;
};

const allowed = ({ headers }: { headers: Headers }): string | null =>
  headers.get('access-control-allow-origin');

describe('a page in a browser', () => {
  it('is let through by its preflight, and reads answers and errors', async () => {
    const { id } = await create(product, '/tokens', token('changed'), privateKey);
    for (const [path, method] of [
      ['/tokens', 'POST'],
      ['/tokenize', 'POST'],
      [`/tokens/${id}`, 'PATCH'],
    ] as const) {
      const asked = await preflight(path, shop, method);
      expect([asked.status, allowed(asked)]).toEqual([204, shop]);
      expect(asked.headers.get('access-control-allow-methods')).toBe(method);
    }
    const made = await post('/tokens', listed.key, shop, token('made'));
    const many = await post('/tokenize', listed.key, shop, { a: 1 });
    const refused = await post('/tokens', listed.key, shop, { type: 'nothing' });
    const nobody = await post('/tokens', 'nobody', shop, token('made'));
    const answers = [made, many, refused, nobody];
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 400, 401]);
    for (const answer of answers) {
      expect([allowed(answer), answer.headers.get('vary')]).toEqual([shop, 'Origin']);
      expect(answer.headers.get('access-control-expose-headers')).toContain('SVC-TRACE-ID');
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  it('that is not listed gets 403: nothing is stored, and no idempotency key is taken', async () => {
    const once = { 'SVC-IDEMPOTENCY-KEY': 'of-the-other-page' };
    const refused = await post('/tokens', listed.key, other, token('foreign'), once);
    expect([refused.status, refused.body.code, allowed(refused)]).toEqual([
      403,
      'permission_denied',
      null,
    ]);
    expect(refused.body.detail).toContain('allowed_origins');
    expect(await stored('foreign')).toBe(0);
    // Another body under the same key is no repeat.
    const made = await post('/tokens', listed.key, shop, token('own'), once);
    expect([made.status, made.headers.get('svc-idempotent-replay')]).toEqual([201, null]);
  });

  it('that is not listed is refused before its body has come', async () => {
    const [answer] = answersIn(
      await talk(
        baseUrl,
        `POST /tokens HTTP/1.1\r\nHost: a\r\nOrigin: ${other}\r\nSVC-API-KEY: ${listed.key}\r\n` +
          'Content-Type: application/json\r\nContent-Length: 4000000\r\nConnection: close\r\n\r\n{',
      ),
    );
    expect(answer?.status).toBe(403);
  });

  it('is listed as long as its application says so and lives', async () => {
    const origin = 'https://passing-of-browsers.example';
    const { id } = await pageOf({ allowed_origins: [origin] });
    const url = `${baseUrl}/applications/${id}`;
    const patch = (change: object) =>
      call('PATCH', url, {
        key: adminKey,
        body: change,
        headers: { 'Content-Type': 'application/merge-patch+json' },
      });
    const status = async () => (await preflight('/tokens', origin, 'POST')).status;
    expect(await status()).toBe(204);
    await patch({ allowed_origins: null });
    expect(await status()).toBe(403);
    await patch({ allowed_origins: [origin], expires_at: new Date(Date.now() + 1_500) });
    expect(await status()).toBe(204);
    await until(async () => (await status()) === 403);
    await patch({ expires_at: null });
    expect(await status()).toBe(204);
    await call('DELETE', url, { key: adminKey });
    expect(await status()).toBe(403);
  });

  it('finds no other path open', async () => {
    const { id } = await create(product, '/tokens', token('closed'), privateKey);
    for (const [method, path] of [
      ['GET', '/tokens'],
      ['GET', `/tokens/${id}`],
      ['POST', '/tokens/search'],
      ['POST', '/detokenize'],
      ['GET', '/applications/key'],
    ] as const) {
      expect(allowed(await preflight(path, shop, method))).toBeNull();
      const body = method === 'POST' ? {} : undefined;
      const headers = { Origin: shop };
      expect(
        allowed(await call(method, `${baseUrl}${path}`, { key: listed.key, body, headers })),
      ).toBeNull();
    }
  });
});

describe('an anonymous proxy', () => {
  let destination: Receiver;

  beforeAll(async () => {
    destination = await startReceiver((res) => {
      res.writeHead(200, { 'Access-Control-Allow-Origin': '*' }).end('ok');
    });
  });
  afterAll(() => destination.close());

  const proxyOf = async (more: object): Promise<string> => {
    const proxy = { name: 'page', destination_url: destination.url, require_auth: false };
    return String((await create(product, '/proxies', { ...proxy, ...more })).key);
  };
  const through = (key: string, origin: string) =>
    call('GET', `${baseUrl}/proxy?svc-proxy-key=${key}`, { headers: { Origin: origin } });

  it('with origins answers pages in place of its destination', async () => {
    const key = await proxyOf({ allowed_origins: [shop] });
    expect(allowed(await preflight(`/proxy?svc-proxy-key=${key}`, shop, 'PUT'))).toBe(shop);
    expect((await preflight(`/proxy?svc-proxy-key=${key}`, other, 'PUT')).status).toBe(403);
    expect(allowed(await preflight('/proxy/a', shop, 'PUT'))).toBe(shop);
    expect(destination.received).toEqual([]);
    const read = await through(key, shop);
    expect([read.status, allowed(read), read.headers.get('vary')]).toEqual([200, shop, 'Origin']);
    const refused = await through(key, other);
    expect([refused.status, allowed(refused)]).toEqual([403, null]);
    expect(destination.received).toHaveLength(1);
  });

  it('without origins leaves pages to its destination', async () => {
    const key = await proxyOf({});
    expect(allowed(await through(key, other))).toBe('*');
    const asked = await preflight(`/proxy?svc-proxy-key=${key}`, other, 'PUT');
    expect([asked.status, asked.text]).toEqual([200, 'ok']);
  });
});
