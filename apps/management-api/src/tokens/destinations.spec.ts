import { useTestApi } from '../spec-api';

const api = useTestApi();

const change = (id: string, patch: unknown, key = api.tenant.private_key) =>
  api.patch(`/tokens/${id}`, patch, key);

const made = (token: object): Promise<string> => api.storedToken(token);

describe('destinations of tokens', () => {
  it('are answered in one spelling, by POST, GET, lists, searches and /tokenize', async () => {
    const key = api.tenant.private_key;
    const written = ['https://API.example.com:443/v1/', '*.Bücher.example.', 'api.example.com/v1'];
    const destinations = ['api.example.com/v1', '*.xn--bcher-kva.example'];
    const created = await api.post('/tokens', { data: 'x', destinations: written }, key);
    expect([created.status, created.body]).toMatchObject([201, { destinations }]);
    const { id } = created.body as { id: string };
    expect((await api.get(`/tokens/${id}`, key)).body).toMatchObject({ destinations });
    expect((await api.get(`/tokens?id=${id}`, key)).body).toMatchObject({
      data: [{ destinations }],
    });
    const found = await api.post('/tokens/search', { query: `id:${id}` }, key);
    expect(found.body).toMatchObject({ data: [{ destinations }] });
    const tokenized = await api.post(
      '/tokenize',
      { card: { type: 'token', data: 1, destinations: written } },
      key,
    );
    expect(tokenized.body).toMatchObject({ card: { destinations } });
  });

  it('are replaced and removed by PATCH, and stay where it does not name them', async () => {
    const id = await made({ data: 'x', destinations: ['a.example', 'b.example'] });
    const now = async (patch: object): Promise<unknown> => {
      const { status, body } = await change(id, patch);
      expect(status).toBe(200);
      return (body as { destinations?: unknown }).destinations;
    };
    expect(await now({})).toEqual(['a.example', 'b.example']);
    expect(await now({ metadata: { a: '1' } })).toEqual(['a.example', 'b.example']);
    expect(await now({ destinations: ['a.example', 'b.example'] })).toHaveLength(2);
    expect(await now({ destinations: ['c.example'] })).toEqual(['c.example']);
    expect(await now({ destinations: null })).toBeUndefined();
    expect(await now({ destinations: null })).toBeUndefined();
  });

  it.each([
    [[]],
    ['a.example'],
    [['a.example', 7]],
    [['https://user@a.example']],
    [['*']],
    [['a.example/../b']],
    [Array.from({ length: 21 }, (_, n) => `h${n}.example`)],
  ])('are refused where they are %j', async (destinations) => {
    const key = api.tenant.private_key;
    const refused = {
      code: 'validation_failed',
      errors: { destinations: expect.anything() as unknown },
    };
    const created = await api.post('/tokens', { data: 'x', destinations }, key);
    expect([created.status, created.body]).toMatchObject([400, refused]);
    const id = await made({ data: 'x' });
    const changed = await change(id, { destinations });
    expect([changed.status, changed.body]).toMatchObject([400, refused]);
  });

  it('are narrowed by a public key, and neither widened nor removed', async () => {
    const key = await api.keyWith('public', ['token:update', 'token:create']);
    const id = await made({ data: 'x', destinations: ['*.a.example'] });
    for (const destinations of [null, ['*.example'], ['a.example']]) {
      const { status, body } = await change(id, { destinations }, key);
      expect([status, body]).toMatchObject([403, { code: 'destination_not_allowed' }]);
    }
    expect((await change(id, { destinations: ['x.a.example'] }, key)).status).toBe(200);
  });
});

describe('destinations of rules', () => {
  const rule = {
    ...{ description: '', priority: 1, container: '/', transform: 'reveal' },
    permissions: ['token:use'],
  };

  it('are answered in one spelling, can be sent back, and are removed with null or without them', async () => {
    const destinations = ['https://API.example.com/', 'http://[::1]:80'];
    const input = { name: 'Bound', type: 'private', rules: [{ ...rule, destinations }] };
    const { id } = await api.made<{ id: string }>('/applications', input);
    const path = `/applications/${id}`;
    const rules = async (): Promise<unknown> =>
      ((await api.get(path)).body as { rules: unknown }).rules;
    const bound = [{ ...rule, destinations: ['api.example.com', 'http://[::1]'] }];
    expect(await rules()).toEqual(bound);
    expect((await api.patch(path, {})).status).toBe(204);
    expect((await api.patch(path, { rules: bound })).status).toBe(204);
    expect(await rules()).toEqual(bound);
    expect((await api.patch(path, { rules: [{ ...rule, destinations: null }] })).status).toBe(204);
    expect(await rules()).toEqual([rule]);
  });

  it('are refused where they are none', async () => {
    for (const destinations of [[], ['*'], 'a.example']) {
      const input = { name: 'Bound', type: 'private', rules: [{ ...rule, destinations }] };
      const { status, body } = await api.post('/applications', input);
      expect([status, body]).toMatchObject([400, { code: 'validation_failed' }]);
    }
  });
});
