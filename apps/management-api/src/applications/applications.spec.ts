import { randomUUID } from 'node:crypto';
import { useTestApi } from '../spec-api';
const api = useTestApi();

const text = expect.any(String) as string;
const input = { name: 'Shop', type: 'private', permissions: ['token:create'] };

describe('POST /applications', () => {
  it('answers 201 and shows the key only once', async () => {
    const created = await api.post('/applications', input);
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: text,
      tenant_id: api.tenant.tenant_id,
      name: 'Shop',
      type: 'private',
      permissions: ['token:create'],
      rules: [],
      key: expect.stringMatching(/^key_[0-9A-Za-z]{33}$/) as string,
      created_by: text,
      created_at: text,
    });
  });

  it('makes a key that works for the next call and has only the given permissions', async () => {
    const { key } = (await api.post('/applications', input)).body as { key: string };
    expect((await api.post('/tokens', { type: 'token', data: 1 }, key)).status).toBe(201);
    expect((await api.get(`/tokens/${randomUUID()}`, key)).status).toBe(403);
  });

  it('keeps the rules, with containers in lower case', async () => {
    const rule = { priority: 1, container: '/PCI/High/', transform: 'reveal' };
    const created = await api.post('/applications', {
      name: 'Rules',
      type: 'private',
      rules: [{ ...rule, permissions: ['token:read', 'token:read'], secret: 1 }],
      expires_at: '2999-01-01T00:00:00+01:00',
    });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({
      permissions: [],
      expires_at: '2998-12-31T23:00:00.000Z',
      rules: [{ description: '', ...rule, container: '/pci/high/', permissions: ['token:read'] }],
    });
    expect(JSON.stringify(created.body)).not.toContain('secret');
  });

  it('refuses the key of an application that has expired', async () => {
    const created = await api.post('/applications', {
      ...input,
      expires_at: '2020-01-01T00:00:00Z',
    });
    const { key } = created.body as { key: string };
    expect((await api.post('/tokens', { data: 1 }, key)).status).toBe(401);
  });

  it.each([
    [{ ...input, name: undefined }, { name: ['is required'] }],
    [{ ...input, name: null }, { name: ['is required'] }],
    [{ ...input, name: '' }, { name: ['must not be empty'] }],
    [{ ...input, name: 7 }, { name: ['must be a string'] }],
    [{ ...input, name: 'n'.repeat(201) }, { name: ['must be at most 200 characters'] }],
    [{ ...input, name: 'a\0b' }, { name: ['must not contain NUL'] }],
    [{ ...input, type: 'admin' }, { type: ['must be private, public or management'] }],
    [{ ...input, permissions: 'token:use' }, { permissions: ['must be a list'] }],
    [
      { ...input, permissions: ['token:use', 'tokens:read'] },
      { permissions: ['tokens:read is no permission; did you mean token:read?'] },
    ],
    [{ ...input, permissions: ['all'] }, { permissions: ['entry 0 is no permission'] }],
    [
      { ...input, permissions: ['reactor:read'] },
      { permissions: ['reactor:read cannot be held by an application of type private'] },
    ],
    [{ ...input, permissions: [] }, { permissions: ['must not be empty unless there are rules'] }],
    [
      { ...input, permissions: null },
      { permissions: ['must not be empty unless there are rules'] },
    ],
    [{ ...input, expires_at: '2999-02-30T00:00:00Z' }, { expires_at: [text] }],
    [{ ...input, expires_at: '2999-01-01T00:00:00' }, { expires_at: [text] }],
    [{ ...input, rules: {} }, { rules: ['must be a list of objects'] }],
    [
      { ...input, rules: [{ priority: 0, container: 'x', transform: 'show', permissions: [] }] },
      {
        'rules.0.priority': [text],
        'rules.0.container': [text],
        'rules.0.transform': ['must be reveal, mask or redact'],
        'rules.0.permissions': ['must not be empty'],
      },
    ],
    [[], { body: ['must be a JSON object'] }],
  ])('refuses %j with 400', async (body, errors) => {
    const refused = await api.post('/applications', body);
    expect(refused.status).toBe(400);
    expect(refused.body).toEqual({
      title: 'One or more validation errors occurred.',
      status: 400,
      code: 'validation_failed',
      errors,
    });
  });

  it('answers 401 and 403', async () => {
    expect((await api.post('/applications', input, 'nobody')).status).toBe(401);
    expect((await api.post('/applications', input, api.tenant.private_key)).status).toBe(403);
  });
});

describe('allowed_origins', () => {
  const page = { name: 'Page', type: 'public', permissions: ['token:create'] };
  const listed = (allowed_origins: unknown) => ({ ...page, allowed_origins });
  const errorsOf = ({ body }: { body: unknown }): unknown => (body as { errors?: object }).errors;

  it('are kept as they were sent, shown, replaced, patched and removed', async () => {
    const origins = ['https://shop.example', 'https://shop.example:8443', 'http://localhost:3000'];
    const { id } = await api.made<{ id: string }>('/applications', listed(origins));
    const shown = async () =>
      ((await api.get(`/applications/${id}`)).body as { allowed_origins?: string[] })
        .allowed_origins;
    expect(await shown()).toEqual(origins);
    const patch = (change: object) => api.patch(`/applications/${id}`, change);
    expect((await patch({ name: 'Other' })).status).toBe(204);
    expect(await shown()).toEqual(origins);
    expect((await patch({ allowed_origins: ['https://a.example'] })).status).toBe(204);
    expect(await shown()).toEqual(['https://a.example']);
    expect((await patch({ allowed_origins: null })).status).toBe(204);
    expect(await shown()).toBeUndefined();
    const put = await api.put(`/applications/${id}`, listed(['https://b.example']));
    expect(put.body).toMatchObject({ allowed_origins: ['https://b.example'] });
    expect((await api.put(`/applications/${id}`, page)).status).toBe(200);
    expect(await shown()).toBeUndefined();
  });

  it('are in force with the answer', async () => {
    const origin = 'https://in-force.example';
    const { id } = await api.made<{ id: string }>('/applications', listed([origin]));
    const { follower } = api.ctx.definitions;
    expect((await follower.current()).isOriginOfApplication(origin)).toBe(true);
    await api.patch(`/applications/${id}`, { allowed_origins: [] });
    expect((await follower.current()).isOriginOfApplication(origin)).toBe(false);
    await api.patch(`/applications/${id}`, { allowed_origins: [origin] });
    expect((await follower.current()).isOriginOfApplication(origin)).toBe(true);
    await api.delete(`/applications/${id}`);
    expect((await follower.current()).isOriginOfApplication(origin)).toBe(false);
  });

  it('may be empty on every type, and set on public applications alone', async () => {
    for (const type of ['private', 'management', 'public']) {
      const permissions = type === 'management' ? ['proxy:read'] : ['token:create'];
      const one = (allowed_origins: string[]) =>
        api.post('/applications', { name: type, type, permissions, allowed_origins });
      expect((await one([])).status).toBe(201);
      const some = await one(['https://a.example']);
      expect(some.status).toBe(type === 'public' ? 201 : 400);
      if (type === 'public') continue;
      expect(errorsOf(some)).toEqual({
        allowed_origins: ['can be held by an application of type public only'],
      });
    }
  });

  it.each([
    'https://xn--mnchen-3ya.example',
    'https://a_b.example',
    'https://192.0.2.1',
    'https://[2001:db8::1]:8443',
    'http://127.0.0.1:5173',
    'http://[::1]:5173',
    'http://localhost',
    `https://${`${'a'.repeat(30)}.`.repeat(6)}b`,
  ])('may be %s', async (origin) => {
    expect((await api.post('/applications', listed([origin]))).status).toBe(201);
  });

  it.each([
    '*',
    'null',
    '',
    'shop.example',
    'https://',
    'https://*.example',
    'https://shop.example/',
    'https://shop.example/pay',
    'https://shop.example?',
    'https://shop.example.',
    'https://Shop.example',
    'HTTPS://shop.example',
    'https://shop.example:443',
    'https://shop.example:0443',
    'https://shop.example:99999',
    'http://localhost:80',
    'http://shop.example',
    'http://localhost.example',
    'http://127.0.0.2',
    'https://a@shop.example',
    'https://münchen.example',
    'https://0x7f.1',
    'https://[2001:DB8::1]',
    'https://shop.example\r\nX: y',
    'https://a.example, https://b.example',
    'capacitor://localhost',
    `https://${'a.'.repeat(100)}b`,
    7,
    null,
    {},
  ])('may not be %j', async (origin) => {
    const refused = await api.post('/applications', listed(['https://fine.example', origin]));
    expect(refused.status).toBe(400);
    const list = typeof origin === 'string' ? 'has at position 2 no origin' : 'must be a list of';
    expect(errorsOf(refused)).toEqual({
      allowed_origins: [expect.stringContaining(list) as string],
    });
    expect(refused.text).not.toContain('X: y');
  });

  it.each<[unknown, string]>([
    ['https://a.example', 'must be a list of strings'],
    [Array.from({ length: 21 }, (_, n) => `https://a${n}.example`), 'must have at most 20 entries'],
    [['https://a.example', 'https://a.example'], 'must not have the same origin twice'],
  ])('may not be %j', async (origins, error) => {
    expect(errorsOf(await api.post('/applications', listed(origins)))).toEqual({
      allowed_origins: [error],
    });
  });
});

describe('GET /applications/{id}', () => {
  it('answers 200 with what was created and who changed it last, without a key', async () => {
    const { key: _, ...made } = (await api.post('/applications', input)).body as {
      key: string;
      id: string;
      created_by: string;
      created_at: string;
    };
    for (const id of [made.id, made.id.toUpperCase()]) {
      const found = await api.get(`/applications/${id}`);
      expect(found.status).toBe(200);
      expect(found.body).toEqual({
        ...made,
        modified_by: made.created_by,
        modified_at: made.created_at,
      });
    }
  });

  it('answers 401 and 403', async () => {
    const path = `/applications/${randomUUID()}`;
    expect((await api.get(path, 'nobody')).status).toBe(401);
    expect((await api.get(path, api.tenant.private_key)).status).toBe(403);
  });

  it('answers unknown, malformed and foreign ids with the same 404', async () => {
    const { id } = (await api.post('/applications', input)).body as { id: string };
    const answers = await Promise.all([
      api.get(`/applications/${randomUUID()}`),
      api.get('/applications/1'),
      api.get(`/applications/${id}`, api.foreign.management_key),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(new Set(answers.map(({ text: body }) => body)).size).toBe(1);
  });
});
