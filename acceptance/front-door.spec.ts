import { call, runningProduct } from './product';

const { baseUrl, adminKey, privateKey } = runningProduct();

describe('a call through the front door', () => {
  it.each<[string, number, string, number]>([
    ['200 KB with a bad key', 200_000, 'nope', 401],
    ['1.1 MB without the permission', 1_100_000, privateKey, 403],
    ['2 MB with a bad key', 2_000_000, 'nope', 401],
    ['9 MB with a good key', 9_000_000, adminKey, 413],
  ])('of %s is refused for its own fault, every time', async (_, bytes, key, status) => {
    const body = { name: 'x'.repeat(bytes) };
    for (let n = 0; n < 20; n += 1) {
      const answer = await call('POST', `${baseUrl}/applications`, { key, body });
      expect([answer.status, answer.body.status]).toEqual([status, status]);
    }
  });

  it.each<[string, string, string, number]>([
    ['with a bad key', '/applications', 'nope', 401],
    ['to a path that nobody serves', '/nothing', adminKey, 404],
    ['with a good key', '/applications', adminKey, 413],
  ])('of 20 MB %s is refused for its own fault, every time', async (_, path, key, status) => {
    const body = { name: 'x'.repeat(20_000_000) };
    for (let n = 0; n < 5; n += 1) {
      const answer = await call('POST', `${baseUrl}${path}`, { key, body });
      expect([answer.status, answer.body.status]).toEqual([status, status]);
    }
  });

  it('a proxy or a callback to a port of the product itself is refused when it is written', async () => {
    const port = new URL(baseUrl).port;
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '127.1']) {
      const body = { name: 'own', destination_url: `http://${host}:${port}/` };
      const answer = await call('POST', `${baseUrl}/proxies`, { key: adminKey, body });
      expect([host, answer.status, answer.body.errors]).toEqual([
        host,
        400,
        { destination_url: [expect.any(String)] },
      ]);
    }
    const formula = { name: 'f', code: 'module.exports = () => ({})' };
    const { id } = (
      await call('POST', `${baseUrl}/reactor-formulas`, { key: adminKey, body: formula })
    ).body;
    const reactor = { name: 'r', formula: { id }, configuration: {} };
    const made = await call('POST', `${baseUrl}/reactors`, { key: adminKey, body: reactor });
    const answer = await call('POST', `${baseUrl}/reactors/${String(made.body.id)}/react`, {
      key: privateKey,
      body: { args: {}, callback_url: `http://localhost:${port}/` },
    });
    expect([answer.status, answer.body.errors]).toEqual([
      400,
      { callback_url: [expect.any(String)] },
    ]);
  });

  it('hands on ETag and If-Match', async () => {
    const body = { name: 'f', code: 'module.exports = () => 1' };
    const made = await call('POST', `${baseUrl}/reactor-formulas`, { key: adminKey, body });
    const put = (tag: string) =>
      call('PUT', `${baseUrl}/reactor-formulas/${String(made.body.id)}`, {
        ...{ key: adminKey, body, headers: { 'If-Match': tag } },
      });
    const tag = String(made.headers.get('etag'));
    const changed = await put(tag);
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).toMatch(/^"/);
    expect(await put(tag)).toMatchObject({ status: 412, body: { code: 'precondition_failed' } });
  });

  it('the API document is served to everybody', async () => {
    const page = await call('GET', `${baseUrl}/docs`);
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching(/^text\/html/) as string,
    ]);
    const { body } = await call('GET', `${baseUrl}/docs/openapi.json`);
    expect(body).toMatchObject({ openapi: expect.stringMatching(/^3\.0\./) as string });
  });

  it('a repeated POST is answered again but not done again', async () => {
    const options = {
      key: adminKey,
      headers: { 'SVC-IDEMPOTENCY-KEY': crypto.randomUUID() },
      body: { name: 'once', code: 'module.exports = () => ({})' },
    };
    const first = await call('POST', `${baseUrl}/reactor-formulas`, options);
    const second = await call('POST', `${baseUrl}/reactor-formulas`, options);
    expect([first.status, second.status, second.text]).toEqual([201, 201, first.text]);
    expect(second.headers.get('svc-idempotent-replay')).toBe('true');
  });
});
