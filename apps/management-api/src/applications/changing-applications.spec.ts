import { randomUUID } from 'node:crypto';
import { generateApiKey } from '@glovebox/access';
import { useTestApi } from '../spec-api';

const api = useTestApi();

type Made = Record<string, unknown> & { id: string; key: string };

const rule = {
  description: 'cards',
  priority: 1,
  container: '/pci/high/',
  transform: 'reveal',
  permissions: ['token:read'],
};
const full = {
  name: 'Shop',
  type: 'private',
  permissions: ['token:create'],
  rules: [rule],
  expires_at: '2999-01-01T00:00:00.000Z',
};

const made = (input: object = full): Promise<Made> => api.made<Made>('/applications', input);

const read = async (id: string): Promise<Made> =>
  (await api.get(`/applications/${id}`)).body as Made;

const createsToken = async (key: string): Promise<number> =>
  (await api.post('/tokens', { data: 1 }, key)).status;

describe('PUT /applications/{id}', () => {
  it('replaces all but type and keys, and removes omitted members', async () => {
    const { id, key, created_at, created_by } = await made();
    const input = { name: 'New', permissions: ['token:create', 'token:create'] };
    const put = await api.put(`/applications/${id}`, input);
    expect(put.status).toBe(200);
    expect(put.body).toEqual({
      id,
      tenant_id: api.tenant.tenant_id,
      name: 'New',
      type: 'private',
      permissions: ['token:create'],
      rules: [],
      created_by,
      created_at,
      modified_by: created_by,
      modified_at: expect.any(String) as string,
    });
    expect(await read(id)).toEqual(put.body);
    expect(await createsToken(key)).toBe(201);
  });

  it('accepts the current type, and ignores null', async () => {
    const { id } = await made();
    for (const type of ['private', null]) {
      expect((await api.put(`/applications/${id}`, { ...full, type })).status).toBe(200);
    }
  });

  it('refuses a removed permission from the next call on', async () => {
    const { id, key } = await made();
    expect(await createsToken(key)).toBe(201);
    await api.put(`/applications/${id}`, { name: 'n', permissions: ['token:search'] });
    expect(await createsToken(key)).toBe(403);
  });

  it('refuses an expired application until its expiry is removed', async () => {
    const { id, key } = await made();
    const expires_at = '2020-01-01T00:00:00Z';
    expect((await api.put(`/applications/${id}`, { ...full, expires_at })).status).toBe(200);
    const expired = await api.post('/tokens', { data: 1 }, key);
    const unknown = await api.post('/tokens', { data: 1 }, generateApiKey());
    expect([expired.status, expired.text]).toEqual([401, unknown.text]);
    expect((await api.patch(`/applications/${id}`, { expires_at: null })).status).toBe(204);
    expect(await createsToken(key)).toBe(201);
  });

  it.each([
    [{ ...full, type: 'public' }, 'type'],
    [{ ...full, type: 'admin' }, 'type'],
    [{ permissions: ['token:use'] }, 'name'],
    [{ ...full, name: 'x'.repeat(201) }, 'name'],
    [{ name: 'n' }, 'permissions'],
    [{ name: 'n', permissions: ['reactor:read'] }, 'permissions'],
    [{ ...full, rules: [{ ...rule, permissions: ['log:read'] }] }, 'rules.0.permissions'],
    [{ ...full, expires_at: '2026-02-30T00:00:00Z' }, 'expires_at'],
  ])('refuses %j with 400 and stores nothing', async (body, member) => {
    const { id } = await made();
    const before = await read(id);
    const refused = await api.put(`/applications/${id}`, body);
    expect([refused.status, Object.keys((refused.body as { errors: object }).errors)]).toEqual([
      400,
      [member],
    ]);
    expect(await read(id)).toEqual(before);
  });

  it('answers 401, 403, 415, 404 and 413', async () => {
    const { id } = await made();
    const path = `/applications/${id}`;
    expect((await api.put(path, full, 'nobody')).status).toBe(401);
    expect((await api.put(path, full, api.tenant.private_key)).status).toBe(403);
    expect((await api.put(path, full).set('Content-Type', 'text/plain')).status).toBe(415);
    expect((await api.put(path, full, api.foreign.management_key)).status).toBe(404);
    expect((await api.put(`/applications/${randomUUID()}`, full)).status).toBe(404);
    expect((await api.put(path, { x: 'x'.repeat(1024 * 1024) })).status).toBe(413);
  });
});

describe('PATCH /applications/{id}', () => {
  it.each([
    [{ name: 'New' }, { name: 'New' }],
    [{ type: 'private' }, {}],
    [{ type: null }, {}],
    [{ permissions: null }, { permissions: [] }],
    [{ rules: null }, { rules: [] }],
    [{ rules: [{ ...rule, priority: 2 }] }, { rules: [{ ...rule, priority: 2 }] }],
    [{ expires_at: null }, { expires_at: undefined }],
    [{ unknown: 1 }, {}],
  ])('changes nothing but %j and answers 204', async (patch, changed) => {
    const before = await read((await made()).id);
    const answer = await api.patch(`/applications/${before.id}`, patch);
    expect([answer.status, answer.text]).toEqual([204, '']);
    const { modified_at: _, ...after } = await read(before.id);
    const { modified_at: __, ...expected } = { ...before, ...changed } as Made;
    expect(after).toEqual(JSON.parse(JSON.stringify(expected)));
  });

  it('answers {} with 204 and changes nothing, not even the time of the last change', async () => {
    const before = await read((await made()).id);
    expect((await api.patch(`/applications/${before.id}`, {})).status).toBe(204);
    expect(await read(before.id)).toEqual(before);
  });

  it('refuses null for both permissions and rules with 400', async () => {
    const { id } = await made();
    const refused = await api.patch(`/applications/${id}`, { permissions: null, rules: null });
    expect(refused.status).toBe(400);
  });

  it.each([
    [{ name: null }],
    [{ name: 5 }],
    [{ type: 'public' }],
    [{ permissions: ['tenant:delete'] }],
    [{ rules: {} }],
    [{ expires_at: 'tomorrow' }],
    ['[]'],
    ['{"__proto__":{"name":"x"}}'],
  ])('refuses %j with 400', async (patch) => {
    const { id } = await made();
    const before = await read(id);
    expect((await api.patch(`/applications/${id}`, patch)).status).toBe(400);
    expect(await read(id)).toEqual(before);
  });

  it('loses nothing when two are sent at once', async () => {
    const { id } = await made();
    const path = `/applications/${id}`;
    for (let round = 0; round < 20; round += 1) {
      const [name, permissions] = [`name ${round}`, round % 2 ? ['token:use'] : ['token:create']];
      const answers = await Promise.all([
        api.patch(path, { name }),
        api.patch(path, { permissions }),
        api.post(`${path}/keys`, ''),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([204, 204, 201]);
      expect(await read(id)).toMatchObject({ name, permissions });
      // Whichever change came last, its definition has the key as well.
      const { key } = answers[2].body as Made;
      expect((await api.get('/applications/key', key)).status).toBe(200);
    }
  });

  it('answers 401, 403, 415 and 404', async () => {
    const { id } = await made();
    const path = `/applications/${id}`;
    expect((await api.patch(path, {}, 'nobody')).status).toBe(401);
    expect((await api.patch(path, {}, api.tenant.private_key)).status).toBe(403);
    const json = 'application/json';
    expect((await api.patch(path, {}).set('Content-Type', json)).status).toBe(415);
    expect((await api.patch(path, {}, api.foreign.management_key)).status).toBe(404);
  });
});

describe('DELETE /applications/{id}', () => {
  it('answers 204, then 404, and its keys are refused from the next call on', async () => {
    const { id, key } = await made();
    expect(await createsToken(key)).toBe(201);
    const gone = await api.delete(`/applications/${id}`);
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect(await createsToken(key)).toBe(401);
    expect((await api.delete(`/applications/${id}`)).status).toBe(404);
    expect((await api.get(`/applications/${id}`)).status).toBe(404);
  });

  it('answers 409 with the number and up to 20 ids of what uses the application', async () => {
    const { id } = await made();
    const input = { name: 'p', destination_url: 'https://example.com', application: { id } };
    const ids: string[] = [];
    for (let n = 0; n < 21; n += 1) ids.unshift((await api.made('/proxies', input)).id);
    const detail = expect.stringMatching(/: 21\..*force=true/) as string;
    expect(await api.delete(`/applications/${id}`)).toMatchObject({
      status: 409,
      body: { code: 'conflict', detail, errors: { proxies: ids.slice(0, 20) } },
    });
    expect((await api.delete(`/applications/${id}?force=false`)).status).toBe(409);
    expect((await api.delete(`/applications/${id}?force=yes`)).status).toBe(400);
    expect((await read(id)).id).toBe(id);
  });

  it('never leaves a proxy with an application that was deleted at the same moment', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await made();
      const input = { name: 'p', destination_url: 'https://example.com', application: { id } };
      const [gone, proxy] = await Promise.all([
        api.delete(`/applications/${id}`),
        api.post('/proxies', input),
      ]);
      expect([
        [204, 400],
        [409, 201],
      ]).toContainEqual([gone.status, proxy.status]);
    }
  });

  it('answers 204 with force=true while a reactor and a proxy use the application; both stay', async () => {
    const { id } = await made();
    const formula = await api.post('/reactor-formulas', { name: 'f', code: 'module.exports = 1' });
    const made_ = await Promise.all([
      api.post('/reactors', {
        name: 'r',
        configuration: {},
        formula: { id: (formula.body as Made).id },
        application: { id },
      }),
      api.post('/proxies', {
        name: 'p',
        destination_url: 'https://example.com',
        application: { id },
      }),
    ]);
    expect(made_.map(({ status }) => status)).toEqual([201, 201]);
    const [reactorId, proxyId] = made_.map(({ body }) => (body as Made).id);
    expect((await api.delete(`/applications/${id}`)).body).toMatchObject({
      status: 409,
      errors: { reactors: [reactorId], proxies: [proxyId] },
    });
    expect((await api.delete(`/applications/${id}?force=true`)).status).toBe(204);
    const { tenant_id: tenantId } = api.tenant;
    const definitions = await api.ctx.definitions.follower.current();
    expect(definitions.find('reactor', tenantId, reactorId ?? '')?.applicationId).toBe(id);
    expect(definitions.find('proxy', tenantId, proxyId ?? '')?.applicationId).toBe(id);
    expect(definitions.find('application', tenantId, id)).toBeUndefined();
  });

  it('answers 401, 403 and 404', async () => {
    const { id } = await made();
    const path = `/applications/${id}`;
    expect((await api.delete(path, 'nobody')).status).toBe(401);
    const reader = await api.keyWith('management', ['application:read', 'application:update']);
    expect((await api.delete(path, reader)).status).toBe(403);
    expect((await api.delete(path, api.foreign.management_key)).status).toBe(404);
    expect((await api.delete('/applications/nope')).status).toBe(404);
  });
});

describe('GET /applications/key', () => {
  it('answers 200 with the caller’s application, whatever its permissions', async () => {
    const { key, ...application } = await made();
    const own = await api.get('/applications/key', key);
    expect(own.status).toBe(200);
    expect(own.body).toEqual(await read(application.id));
    expect(own.text).not.toContain(key);
    const foreign = await api.get('/applications/key', api.foreign.private_key);
    expect(foreign.body).toMatchObject({ tenant_id: api.foreign.tenant_id, name: 'Foreign demo' });
  });

  it('answers 401', async () => {
    expect((await api.get('/applications/key', 'nobody')).status).toBe(401);
  });
});

describe('GET /applications', () => {
  const list = async (query: string, key = api.tenant.management_key) => {
    const answer = await api.get(`/applications${query}`, key);
    expect(answer.status).toBe(200);
    return answer.body as { pagination: { total_items: number }; data: Made[] };
  };
  const marker = randomUUID();
  const ids: string[] = [];
  beforeAll(async () => {
    for (const type of ['private', 'public', 'public']) {
      const input = { name: `${marker} ${type}`, type, permissions: ['token:create'] };
      ids.push((await made(input)).id);
    }
  });

  it('answers 200, newest first, each as its own GET shows it, without keys', async () => {
    const { data, pagination } = await list(`?name=${marker}*`);
    expect(data.map(({ id }) => id)).toEqual([...ids].reverse());
    expect(pagination).toEqual({
      total_items: 3,
      page_number: 1,
      page_size: 20,
      total_pages: 1,
    });
    expect(data[0]).toEqual(await read(ids[2] ?? ''));
    expect(JSON.stringify(data)).not.toContain('key_');
  });

  it('filters by type, id and name together', async () => {
    const [first = ''] = ids;
    expect((await list(`?name=${marker}*&type=public`)).data).toHaveLength(2);
    expect((await list(`?id=${first}&type=private`)).data).toHaveLength(1);
    expect((await list(`?id=${first}&type=public`)).pagination.total_items).toBe(0);
    expect((await list(`?id=${first}`, api.foreign.management_key)).data).toEqual([]);
  });

  it.each(['?type=admin', '?type=public&type=private', '?size=101', '?id=nope'])(
    'refuses %s with 400',
    async (query) => {
      expect((await api.get(`/applications${query}`)).status).toBe(400);
    },
  );

  it('answers 401 and 403', async () => {
    expect((await api.get('/applications', 'nobody')).status).toBe(401);
    expect((await api.get('/applications', api.tenant.private_key)).status).toBe(403);
  });
});
