import { randomUUID } from 'node:crypto';
import { useTestApi } from '../spec-api';
const api = useTestApi();

const text = expect.any(String) as string;
const input = { name: 'Proxy', destination_url: 'https://echo.example.com/v1?a=1' };
const transform = { code: 'module.exports = async (req) => req.args;' };

describe('POST /proxies', () => {
  it('answers 201 with a new key and the defaults', async () => {
    const created = await api.post('/proxies', { ...input, key: 'mine', configuration: null });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: text,
      key: expect.stringMatching(/^[0-9A-Za-z]{22}$/) as string,
      ...input,
      tenant_id: api.tenant.tenant_id,
      require_auth: true,
      detokenize: true,
      isolation: 'warm',
      created_by: text,
      created_at: text,
    });
  });

  it('keeps every member', async () => {
    const application = await api.post('/applications', {
      name: 'App',
      type: 'private',
      permissions: ['token:create'],
    });
    const { id } = application.body as { id: string };
    const created = await api.post('/proxies', {
      ...input,
      application: { id },
      request_transform: transform,
      response_transform: { ...transform, runtime: 'node20' },
      configuration: { SECRET: 's', COUNT: 1, ON: false },
      require_auth: false,
      detokenize: false,
      isolation: 'run',
      timeout_ms: 5_000,
    });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({
      application_id: id,
      request_transform: transform,
      response_transform: { ...transform, runtime: 'node20' },
      configuration: { SECRET: 's', COUNT: '1', ON: 'false' },
      require_auth: false,
      detokenize: false,
      isolation: 'run',
      timeout_ms: 5_000,
    });
    expect(created.body).not.toHaveProperty('application');
  });

  it.each([
    [{ name: undefined }, { name: ['is required'] }],
    [{ name: 'n'.repeat(201) }, { name: ['must be at most 200 characters'] }],
    [{ destination_url: null }, { destination_url: ['is required'] }],
    [{ require_auth: 'false' }, { require_auth: ['must be true or false'] }],
    [{ require_auth: 0 }, { require_auth: ['must be true or false'] }],
    [{ configuration: { A: {} } }, { configuration: [text] }],
    [{ configuration: { A: 'a\0' } }, { configuration: [text] }],
    [{ request_transform: 'x' }, { request_transform: ['must be an object'] }],
    [{ application: { id: randomUUID() } }, { 'application.id': [text] }],
    [{ timeout_ms: 1.5 }, { timeout_ms: [text] }],
    [{ isolation: 'cold' }, { isolation: ['must be warm or run'] }],
  ])('refuses %j with 400', async (change, errors) => {
    const refused = await api.post('/proxies', { ...input, ...change });
    expect(refused.status).toBe(400);
    expect((refused.body as { errors: object }).errors).toEqual(errors);
  });

  it.each([
    'ftp://example.com/',
    'example.com',
    '/relative',
    'https:example.com',
    'https://user:pass@example.com/',
    'https://@example.com/',
    'https://example.com/a b',
    'https://example.com/\\evil',
    'https://example.com/\u0000',
    'https://example.com/#part',
    'http://example.com/',
    'http://localhost:3000/',
    'https://localhost/',
    'https://127.0.0.1/',
    'https://169.254.169.254/latest',
    'https://[::ffff:10.0.0.1]/',
    'https://2130706433/',
    `https://example.com/${'p'.repeat(2_000)}`,
    'https://example.com/日本',
    'https://example.com/?q=日',
  ])('refuses the destination %s with 400', async (destination_url) => {
    const refused = await api.post('/proxies', { ...input, destination_url });
    expect(refused.body).toMatchObject({ status: 400, errors: { destination_url: [text] } });
  });

  it('refuses a transform that cannot be compiled with 422', async () => {
    const refused = await api.post('/proxies', { ...input, response_transform: { code: '}' } });
    expect(refused.body).toMatchObject({
      status: 422,
      code: 'invalid_code',
      errors: { 'response_transform.code': [text] },
    });
  });

  it('answers 401 and 403', async () => {
    expect((await api.post('/proxies', input, 'nobody')).status).toBe(401);
    expect((await api.post('/proxies', input, api.tenant.private_key)).status).toBe(403);
  });
});

describe('GET /proxies/{id}', () => {
  it('answers 200 and shows the key again', async () => {
    const made = (await api.post('/proxies', { ...input, configuration: { A: 'a' } }))
      .body as Record<string, string>;
    const found = await api.get(`/proxies/${made.id}`);
    expect(found.status).toBe(200);
    expect(found.body).toEqual({
      ...made,
      modified_by: made.created_by,
      modified_at: made.created_at,
    });
  });

  it('answers 401, 403 and 404', async () => {
    const { id } = (await api.post('/proxies', input)).body as { id: string };
    expect((await api.get(`/proxies/${id}`, 'nobody')).status).toBe(401);
    expect((await api.get(`/proxies/${id}`, api.tenant.private_key)).status).toBe(403);
    expect((await api.get(`/proxies/${id}`, api.foreign.management_key)).status).toBe(404);
    expect((await api.get('/proxies/x')).status).toBe(404);
  });
});

describe('allowed_origins', () => {
  const origins = ['https://shop.example'];
  const open = { require_auth: false, allowed_origins: origins };

  it('are kept, patched and removed on a proxy that admits anonymous callers', async () => {
    const made = await api.made<{ id: string }>('/proxies', { ...input, ...open });
    expect(made).toMatchObject(open);
    const path = `/proxies/${made.id}`;
    const change = async (patch: object) => (await api.patch(path, patch)).status;
    expect(await change({ name: 'Other' })).toBe(204);
    expect((await api.get(path)).body).toMatchObject(open);
    expect((await api.ctx.definitions.follower.current()).isOriginOfProxy(origins[0] ?? '')).toBe(
      true,
    );
    expect(await change({ require_auth: true })).toBe(400);
    expect(await change({ require_auth: true, allowed_origins: null })).toBe(204);
    expect((await api.get(path)).body).not.toHaveProperty('allowed_origins');
  });

  it.each([
    [{ allowed_origins: origins }, 'must be left out unless require_auth is false'],
    [{ ...open, require_auth: true }, 'must be left out unless require_auth is false'],
    [{ ...open, allowed_origins: ['https://shop.example/'] }, text],
  ])('are refused with 400: %j', async (change, error) => {
    const refused = await api.post('/proxies', { ...input, ...change });
    expect(refused.body).toMatchObject({ status: 400, errors: { allowed_origins: [error] } });
  });
});

it('the data plane gets a proxy under the hash of its key', async () => {
  const { id, key } = (
    await api.post('/proxies', { ...input, request_transform: transform, configuration: { A: 1 } })
  ).body as { id: string; key: string };
  const definitions = await api.ctx.definitions.follower.current();
  expect(definitions.proxyByKeyHash(api.ctx.keyHash(key))).toMatchObject({
    id,
    destinationUrl: input.destination_url,
    requestTransform: { code: transform.code, runtime: 'node16' },
    responseTransform: null,
    requestSteps: [],
    responseSteps: [],
    configuration: { A: '1' },
  });
});
