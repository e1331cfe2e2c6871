import { useTestApi } from '../spec-api';

const api = useTestApi();

const text = expect.any(String) as string;

async function definition(id = api.tenant.tenant_id) {
  const definitions = await api.ctx.definitions.follower.current();
  return definitions.find('tenant', id, id);
}

const readSecret = async (key = api.tenant.management_key): Promise<string> =>
  ((await api.get('/tenants/self/webhook-secret', key)).body as { secret: string }).secret;

describe('GET /tenants/self', () => {
  it('answers 200 with the caller’s tenant, which has no created_by', async () => {
    const answer = await api.get('/tenants/self', api.foreign.management_key);
    expect(answer.status).toBe(200);
    const { created_at: createdAt } = answer.body as { created_at: string };
    expect(answer.body).toEqual({
      id: api.foreign.tenant_id,
      name: 'Foreign',
      settings: {},
      created_at: createdAt,
      modified_at: createdAt,
    });
  });

  it('answers 401 and 403', async () => {
    expect((await api.get('/tenants/self', 'nobody')).status).toBe(401);
    expect((await api.get('/tenants/self', api.tenant.private_key)).status).toBe(403);
    const other = await api.keyWith('management', ['tenant:update', 'tenant:delete']);
    expect((await api.get('/tenants/self', other)).status).toBe(403);
  });
});

describe('PUT /tenants/self', () => {
  it('replaces name and settings, in force for the next call', async () => {
    const secret = await readSecret();
    const settings = { enable_ephemeral_proxy: 'true', other: '' };
    const put = await api.put('/tenants/self', { name: 'Renamed', settings, id: 'x' });
    expect(put.status).toBe(200);
    expect(put.body).toEqual({
      id: api.tenant.tenant_id,
      name: 'Renamed',
      settings,
      created_at: text,
      modified_by: text,
      modified_at: text,
    });
    expect((await api.get('/tenants/self')).body).toEqual(put.body);
    expect(await definition()).toMatchObject({ settings, webhookSecrets: [{ secret }] });
  });

  it('treats omitted settings and null as no settings', async () => {
    for (const input of [{ name: 'n' }, { name: 'n', settings: null }]) {
      await api.put('/tenants/self', { name: 'n', settings: { a: 'b' } });
      const put = await api.put('/tenants/self', input);
      expect([put.status, put.body]).toMatchObject([200, { settings: {} }]);
      expect((await definition())?.settings).toEqual({});
    }
  });

  it.each([
    [{}, 'name'],
    [{ name: null }, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 5 }, 'name'],
    [{ name: 'x'.repeat(201) }, 'name'],
    [{ name: 'a\0b' }, 'name'],
    [{ name: 'n', settings: [] }, 'settings'],
    [{ name: 'n', settings: { a: 1 } }, 'settings'],
    [{ name: 'n', settings: { a: null } }, 'settings'],
    [{ name: 'n', settings: { a: '\0' } }, 'settings'],
  ])('refuses %j with 400 and stores nothing', async (body, member) => {
    const before = (await api.get('/tenants/self')).body as object;
    const refused = await api.put('/tenants/self', body);
    expect([refused.status, refused.body]).toMatchObject([400, { errors: { [member]: [text] } }]);
    expect((await api.get('/tenants/self')).body).toEqual(before);
  });

  it('answers 401, 403, 415 and 413, and never changes another tenant', async () => {
    const input = { name: 'n' };
    expect((await api.put('/tenants/self', input, 'nobody')).status).toBe(401);
    expect((await api.put('/tenants/self', input, api.tenant.private_key)).status).toBe(403);
    const type = 'text/plain';
    expect((await api.put('/tenants/self', input).set('Content-Type', type)).status).toBe(415);
    expect((await api.put('/tenants/self', { x: 'x'.repeat(1024 * 1024) })).status).toBe(413);
    const foreign = await api.get('/tenants/self', api.foreign.management_key);
    expect(foreign.body).toMatchObject({ name: 'Foreign' });
  });

  it('does not deadlock with another one or with other changes in the tenant', async () => {
    const formula = { name: 'F', code: 'module.exports = () => ({})' };
    for (let round = 0; round < 10; round += 1) {
      const answers = await Promise.all([
        api.put('/tenants/self', { name: 'a', settings: { round: `${round}` } }),
        api.put('/tenants/self', { name: 'b', settings: { round: `${round}` } }),
        api.post('/tenants/self/webhook-secret/rotate', ''),
        api.post('/reactor-formulas', formula),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 201]);
      expect((await definition())?.settings).toEqual({ round: `${round}` });
      const [newest] = (await definition())?.webhookSecrets ?? [];
      expect(newest?.secret).toBe((answers[2].body as { secret: string }).secret);
    }
  });
});

describe('GET /tenants/self/webhook-secret', () => {
  const path = '/tenants/self/webhook-secret';

  it('answers 200 with the secret that signs for the caller’s tenant alone', async () => {
    const answer = await api.get(path, api.foreign.management_key);
    expect(answer.status).toBe(200);
    const { secret } = answer.body as { secret: string };
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const foreign = await definition(api.foreign.tenant_id);
    expect(foreign?.webhookSecrets).toEqual([{ secret, until: null }]);
    expect(await readSecret()).not.toBe(secret);
  });

  it('answers 401 and 403', async () => {
    expect((await api.get(path, 'nobody')).status).toBe(401);
    expect((await api.get(path, api.tenant.private_key)).status).toBe(403);
    const reader = await api.keyWith('management', ['tenant:read']);
    expect((await api.get(path, reader)).status).toBe(403);
  });
});

describe('POST /tenants/self/webhook-secret/rotate', () => {
  const path = '/tenants/self/webhook-secret/rotate';

  it('makes a new secret sign, and the previous one also for a day, but no older one', async () => {
    const secrets = [await readSecret()];
    for (let round = 0; round < 3; round += 1) {
      const answer = await api.post(path, '');
      expect(answer.status).toBe(200);
      const { secret, ...rest } = answer.body as { secret: string };
      expect([secret, rest]).toEqual([expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/), {}]);
      expect(await readSecret()).toBe(secret);
      const [newest, before, ...older] = (await definition())?.webhookSecrets ?? [];
      expect(newest).toEqual({ secret, until: null });
      expect(before?.secret).toBe(secrets.at(-1));
      const leftMs = Date.parse(before?.until ?? '') - Date.now();
      expect(leftMs / 3_600_000).toBeCloseTo(24, 1);
      expect(older).toEqual([]);
      secrets.push(secret);
    }
    expect(new Set(secrets).size).toBe(4);
  });

  it('answers 401, 403, 415 and 400 without rotating any tenant’s secret', async () => {
    const before = await readSecret();
    const foreign = await readSecret(api.foreign.management_key);
    expect((await api.post(path, '', 'nobody')).status).toBe(401);
    const reader = await api.keyWith('management', ['tenant:read', 'tenant:delete']);
    expect((await api.post(path, '', reader)).status).toBe(403);
    expect((await api.post(path, '{}').set('Content-Type', 'text/plain')).status).toBe(415);
    expect((await api.post(path, '{')).status).toBe(400);
    expect(await readSecret()).toBe(before);
    expect((await api.post(path, '')).status).toBe(200);
    expect(await readSecret(api.foreign.management_key)).toBe(foreign);
  });
});
