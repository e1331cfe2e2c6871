import { useTestApi } from '../spec-api';

const api = useTestApi();
const code = 'module.exports = () => 1';
let formula: { id: string };
beforeAll(async () => {
  formula = await api.made('/reactor-formulas', { name: 'f', code });
});

interface Kind {
  readonly path: string;
  readonly body: () => { readonly name: string };
}
const kinds: readonly Kind[] = [
  { path: '/reactor-formulas', body: () => ({ name: 'f', code }) },
  {
    path: '/reactors',
    body: () => ({ name: 'r', configuration: {}, formula: { id: formula.id } }),
  },
  { path: '/proxies', body: () => ({ name: 'p', destination_url: 'https://a.example' }) },
  {
    path: '/applications',
    body: () => ({ name: 'a', type: 'private', permissions: ['token:use'] }),
  },
];

describe.each(kinds)('the slug of $path', ({ path, body }) => {
  const slugOf = async (id: string): Promise<unknown> =>
    ((await api.get(`${path}/${id}`)).body as { slug?: unknown }).slug;

  it('is kept by clients that do not send it, and taken away by null in a PATCH alone', async () => {
    const { id, slug } = await api.made<{ id: string; slug: string }>(path, {
      ...body(),
      slug: 'charge-eu',
    });
    expect(slug).toBe('charge-eu');
    for (const [send, status] of [
      [api.put(`${path}/${id}`, { ...body(), name: 'renamed' }), 200],
      [api.put(`${path}/${id}`, { ...body(), slug: null }), 200],
      [api.patch(`${path}/${id}`, {}), 204],
      [api.patch(`${path}/${id}`, { name: 'renamed again' }), 204],
    ] as const) {
      expect((await send).status).toBe(status);
      expect(await slugOf(id)).toBe('charge-eu');
    }
    expect((await api.put(`${path}/${id}`, { ...body(), slug: 'other' })).body).toMatchObject({
      slug: 'other',
    });
    await api.patch(`${path}/${id}`, { slug: 'charge-eu' });
    expect(await slugOf(id)).toBe('charge-eu');
    expect((await api.patch(`${path}/${id}`, { slug: null })).status).toBe(204);
    expect(await slugOf(id)).toBeUndefined();
  });

  it('is unique among its kind in a tenant, however it is set', async () => {
    await api.made(path, { ...body(), slug: 'one' });
    const second = await api.made(path, { ...body(), slug: 'two' });
    const taken = {
      status: 409,
      body: { code: 'conflict', detail: 'Another resource of this kind has the slug.' },
    };
    expect(await api.post(path, { ...body(), slug: 'one' })).toMatchObject(taken);
    expect(await api.put(`${path}/${second.id}`, { ...body(), slug: 'one' })).toMatchObject(taken);
    expect(await api.patch(`${path}/${second.id}`, { slug: 'one' })).toMatchObject(taken);
    expect(await slugOf(second.id)).toBe('two');
    const abroad =
      path === '/reactors'
        ? undefined
        : await api.post(path, { ...body(), slug: 'one' }, api.foreign.management_key);
    expect(abroad?.status ?? 201).toBe(201);
  });

  it('finds its resource', async () => {
    const { id } = await api.made(path, { ...body(), slug: 'found' });
    const found = async (query: string): Promise<unknown> =>
      ((await api.get(`${path}?${query}`)).body as { data: { id: string }[] }).data.map(
        (one) => one.id,
      );
    expect(await found('slug=found')).toEqual([id]);
    expect(await found('slug=foun')).toEqual([]);
    expect(await found('slug=found&name=nobody')).toEqual([]);
    for (const query of ['slug=a&slug=b', `slug=${'x'.repeat(65)}`, 'slug=%00']) {
      expect(await api.get(`${path}?${query}`)).toMatchObject({
        status: 400,
        body: { errors: { slug: [expect.any(String)] } },
      });
    }
  });

  it.each(['', '-a', 'a-', 'Upper', 'a b', 'a_b', 'é', 'x'.repeat(65), 7])(
    'may not be %p',
    async (slug) => {
      expect(await api.post(path, { ...body(), slug })).toMatchObject({
        status: 400,
        body: { errors: { slug: [expect.any(String)] } },
      });
    },
  );

  it.each(['a', '7', 'a--b', 'x'.repeat(64)])('may be %p', async (slug) => {
    expect(await api.made(path, { ...body(), slug })).toMatchObject({ slug });
  });
});
