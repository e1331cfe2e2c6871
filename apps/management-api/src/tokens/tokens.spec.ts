import { randomUUID } from 'node:crypto';
import { rule, useTestApi } from '../spec-api';
const api = useTestApi();

const text = expect.any(String) as string;
const reveal = (container: string, permissions: string[]) => rule('reveal', container, permissions);

describe('POST /tokens', () => {
  it.each([
    '{"constructor":"ACME","__proto__":{"a":1}}',
    '"half a pair: \\ud800"',
    '[1.5,-0.1,1e21,9007199254740991]',
    '"\\u0000"',
  ])('keeps any JSON exactly: %s', async (data) => {
    const created = await api.post('/tokens', `{"data":${data}}`, api.tenant.private_key);
    expect(created.status).toBe(201);
    const key = await api.keyWith(
      'private',
      [],
      [{ priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] }],
    );
    const { id } = created.body as { id: string };
    const { text } = await api.get(`/tokens/${id}`, key);
    expect(JSON.stringify((JSON.parse(text) as { data: unknown }).data)).toBe(
      JSON.stringify(JSON.parse(data)),
    );
  });

  it('refuses a number that would lose digits with 400 instead of rounding it', async () => {
    const body = '{"data":12345678901234567890}';
    const refused = await api.post('/tokens', body, api.tenant.private_key);
    expect([refused.status, refused.body]).toMatchObject([400, { code: 'invalid_json' }]);
  });

  it('answers 201 and stores any JSON', async () => {
    const key = await api.keyWith('private', [], [reveal('/', ['token:create', 'token:read'])]);
    for (const data of ['s\0ecret', 0, false, null, { deep: [{ a: '\u20ac', id: null }] }, []]) {
      const created = await api.post('/tokens', { type: 'token', data }, key);
      expect(created.status).toBe(201);
      expect(created.body).toEqual({
        id: text,
        tenant_id: api.tenant.tenant_id,
        type: 'token',
        data,
        containers: ['/general/high/'],
        fingerprint: text,
        created_by: text,
        created_at: text,
      });
      const { id } = created.body as { id: string };
      const found = await api.get(`/tokens/${id.toUpperCase()}`, key);
      expect(found.body).toMatchObject({ id, data, modified_by: text, modified_at: text });
    }
  });

  it('shows no data to a plain permission', async () => {
    const created = await api.post('/tokens', { data: 'x' }, api.tenant.private_key);
    expect(created.status).toBe(201);
    expect(created.body).not.toHaveProperty('data');
  });

  it('keeps id, container and metadata, and answers 409 if the id is taken', async () => {
    const token = { id: 'order-1', data: 1, containers: ['/PII/Low/'], metadata: { a: 'b' } };
    const created = await api.post('/tokens', token, api.tenant.private_key);
    expect(created.body).toMatchObject({
      id: 'order-1',
      containers: ['/pii/low/'],
      metadata: { a: 'b' },
    });
    expect((await api.post('/tokens', token, api.tenant.private_key)).status).toBe(409);
  });

  it.each([
    [{}, { data: ['is required'] }],
    [{ data: 1, type: 'unknown' }, { type: [text] }],
    [{ data: 1, id: 'a/b' }, { id: [text] }],
    [{ data: 1, containers: '/a/' }, { containers: ['must be a list of strings'] }],
    [{ data: 1, containers: [1] }, { containers: ['must be a list of strings'] }],
    [{ data: 1, metadata: { a: 1 } }, { metadata: [text] }],
    [{ data: 1, metadata: { a: '\0' } }, { metadata: [text] }],
    [{ data: 1, expires_at: 'soon' }, { expires_at: [text] }],
    [{ data: 'x'.repeat(1024 * 1024) }, { data: [text] }],
  ])('refuses invalid members with 400: %#', async (body, errors) => {
    const refused = await api.post('/tokens', body, api.tenant.private_key);
    expect(refused.status).toBe(400);
    expect((refused.body as { errors: object }).errors).toEqual(errors);
  });

  it('answers 401, 403 for permission and container, and 413', async () => {
    expect((await api.post('/tokens', { data: 1 }, 'nobody')).status).toBe(401);
    expect((await api.post('/tokens', { data: 1 })).status).toBe(403);
    const key = await api.keyWith('public', [], [reveal('/pci/', ['token:create'])]);
    expect((await api.post('/tokens', { data: 1 }, key)).status).toBe(403);
    const large = { data: 'x'.repeat(5 * 1024 * 1024) };
    expect((await api.post('/tokens', large, api.tenant.private_key)).status).toBe(413);
  });
});

describe('GET /tokens/{id}', () => {
  it('answers 401, 403 and 404', async () => {
    const token = await api.post('/tokens', { data: 1 }, api.tenant.private_key);
    const path = `/tokens/${(token.body as { id: string }).id}`;
    expect((await api.get(path, 'nobody')).status).toBe(401);
    expect((await api.get(path)).status).toBe(403);
    expect((await api.get(path, api.tenant.private_key)).status).toBe(200);
    expect((await api.get(path, api.foreign.private_key)).status).toBe(404);
    expect((await api.get(`/tokens/${randomUUID()}`, api.tenant.private_key)).status).toBe(404);
    expect((await api.get('/tokens/a%00b', api.tenant.private_key)).status).toBe(404);
    const elsewhere = await api.keyWith('private', [], [reveal('/pci/', ['token:read'])]);
    expect((await api.get(path, elsewhere)).status).toBe(403);
  });
});
