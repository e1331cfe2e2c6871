import { randomUUID } from 'node:crypto';
import { rule, useTestApi } from '../spec-api';

const api = useTestApi();

const reveal = (container: string, permissions: string[]) => rule('reveal', container, permissions);

const stored = (token: object): Promise<string> => api.storedToken(token);

interface Found {
  readonly status: number;
  readonly body: { data: { id: string }[]; pagination: object };
}
const idsOf = ({ status, body }: Found): string[] => {
  expect([status, body]).toEqual([200, body]);
  return body.data.map(({ id }) => id);
};
const list = async (query: string, key = api.tenant.private_key): Promise<string[]> =>
  idsOf(await api.get(`/tokens${query}`, key));
const search = async (query: string, key = api.tenant.private_key): Promise<string[]> =>
  idsOf(await api.post('/tokens/search', { query, size: 100 }, key));

describe('GET /tokens', () => {
  it('answers 200 with pages, newest first', async () => {
    const metadata = { page: randomUUID() };
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.unshift(await stored({ data: n, metadata }));
    const filter = `metadata.page=${metadata.page}`;
    const { body } = await api.get(`/tokens?${filter}&page=2&size=2`, api.tenant.private_key);
    expect(body).toMatchObject({
      pagination: { total_items: 5, page_number: 2, page_size: 2, total_pages: 3 },
      data: [{ id: ids[2] }, { id: ids[3] }],
    });
    expect(await list(`?${filter}`)).toEqual(ids);
    expect(await list(`?${filter}&page=9`)).toEqual([]);
  });

  it('filters by id, type, metadata and all of them', async () => {
    const metadata = { 'a.b': 'x y', run: randomUUID() };
    const one = await stored({ data: 1, metadata });
    const two = await stored({ type: 'card_number', data: '4242424242424242', metadata });
    const run = `metadata.run=${metadata.run}`;
    expect(await list(`?id=${one}`)).toEqual([one]);
    expect(await list(`?id=${one.toUpperCase()}&id=${two}`)).toEqual([two, one]);
    expect(await list(`?${run}&type=card_number`)).toEqual([two]);
    expect(await list(`?${run}&type=card_number&type=token`)).toEqual([two, one]);
    expect(await list(`?${run}&metadata.a.b=x+y`)).toEqual([two, one]);
    expect(await list(`?${run}&metadata.a.b=x`)).toEqual([]);
    expect(await list(`?id=${one}&type=card`)).toEqual([]);
    expect(await list(`?id=${randomUUID()}`)).toEqual([]);
  });

  it('omits tokens without a grant and those of other tenants', async () => {
    const metadata = { run: randomUUID() };
    const general = await stored({ data: 1, metadata });
    const pci = await stored({ data: 1, metadata, containers: ['/pci/low/'] });
    const filter = `?metadata.run=${metadata.run}`;
    const reader = await api.keyWith('private', [], [reveal('/pci/', ['token:read'])]);
    expect(await list(filter)).toEqual([pci, general]);
    expect(await list(filter, reader)).toEqual([pci]);
    expect(await list(filter, api.foreign.private_key)).toEqual([]);
    expect(await list(`?id=${pci}&id=${general}`, api.foreign.private_key)).toEqual([]);
  });

  it.each([
    ['?id=a/b', 'id'],
    ['?type=unknown', 'type'],
    ['?size=101', 'size'],
    ['?page=0', 'page'],
    ['?metadata.a=1&metadata.a=2', 'metadata.a'],
    ['?metadata.a=%00', 'metadata.a'],
  ])('refuses %s with 400', async (query, member) => {
    const refused = await api.get(`/tokens${query}`, api.tenant.private_key);
    expect([refused.status, Object.keys(refused.body.errors as object)]).toEqual([400, [member]]);
  });

  it('answers 401 and 403', async () => {
    expect((await api.get('/tokens', 'nobody')).status).toBe(401);
    expect((await api.get('/tokens', await api.keyWith('private', ['token:search']))).status).toBe(
      403,
    );
  });
});

describe('POST /tokens/search', () => {
  const metadata = { run: randomUUID(), 'full name': 'Ada Lovelace' };
  const run = `metadata.run:${metadata.run}`;
  let number: string;
  let bank: string;
  let plain: string;
  beforeAll(async () => {
    number = await stored({
      type: 'card_number',
      data: '4242424242424242',
      metadata,
      search_indexes: ['{{ data }}', '{{ data | last4 }}'],
    });
    bank = await stored({
      type: 'bank',
      data: { routing_number: '021000021', account_number: '12344242' },
      metadata,
      search_indexes: ['{{ data.account_number | last4 }}'],
    });
    plain = await stored({ data: { amount: 42 }, metadata, search_indexes: ['{{ data.amount }}'] });
  });

  it('finds by every field and every combination', async () => {
    const fingerprint = (
      (await api.get(`/tokens/${bank}`, api.tenant.private_key)).body as {
        fingerprint: string;
      }
    ).fingerprint;
    const found: [string, string[]][] = [
      [run, [plain, bank, number]],
      [`${run} AND data:4242`, [bank, number]],
      [`${run} data:4242424242424242`, [number]],
      [`${run} AND data:42`, [plain]],
      [`${run} AND data:424`, []],
      [`${run} AND type:bank`, [bank]],
      [`${run} AND NOT type:bank`, [plain, number]],
      [`${run} AND (type:bank OR data:42)`, [plain, bank]],
      [`${run} AND NOT (type:bank OR data:42)`, [number]],
      [`${run} AND container:/pci/*`, [number]],
      [`${run} AND container:/pci/`, []],
      [`${run} AND container:/PCI/High/`, [number]],
      [`${run} AND NOT metadata.other:1`, [plain, bank, number]],
      ['"metadata.full name":"Ada Lovelace" AND type:bank', [bank]],
      [`id:${plain.toUpperCase()}`, [plain]],
      [`fingerprint:${fingerprint}`, [bank]],
      [`${run} AND fingerprint:x`, []],
    ];
    for (const [query, ids] of found) expect([query, await search(query)]).toEqual([query, ids]);
  });

  it('answers in pages, and omits tokens without a grant and those of other tenants', async () => {
    const key = api.tenant.private_key;
    const { body } = await api.post('/tokens/search', { query: run, page: 2, size: 2 }, key);
    expect(body).toMatchObject({ pagination: { total_items: 3 }, data: [{ id: number }] });
    const banks = await api.keyWith('private', [], [reveal('/bank/', ['token:search'])]);
    expect(await search(run, banks)).toEqual([bank]);
    expect(await search(`${run} OR NOT ${run}`, banks)).not.toContain(number);
    const other = await api.post('/tokens', { data: 1, metadata }, api.foreign.private_key);
    expect(await search(run, api.foreign.private_key)).toEqual([other.body.id]);
    expect(await search('data:4242', api.foreign.private_key)).toEqual([]);
  });

  it('finds changed data and indexes at once, and no longer by the old ones', async () => {
    const id = await stored({ data: 'before', metadata, search_indexes: ['{{ data }}'] });
    const change = (patch: object) => api.patch(`/tokens/${id}`, patch, api.tenant.private_key);
    expect(await search(`${run} AND data:before`)).toEqual([id]);
    await change({ data: 'after' });
    expect(await search(`${run} AND data:before`)).toEqual([]);
    expect(await search(`${run} AND data:after`)).toEqual([id]);
    await change({ search_indexes: [], metadata: { run: 'another' } });
    expect(await search('data:after')).toEqual([]);
    expect(await search(`${run} AND id:${id}`)).toEqual([]);
  });

  it('answers 400 with a position, and shows nothing of the query', async () => {
    const key = api.tenant.private_key;
    const refused = await api.post('/tokens/search', { query: 'data:4242424242424242 AND' }, key);
    expect(refused.body).toMatchObject({
      status: 400,
      errors: { query: ['is malformed at character 26'] },
    });
    expect(refused.text).not.toContain('4242');
    for (const body of [{}, { query: '' }, { query: run, size: 101 }, { query: run, page: 0 }]) {
      expect((await api.post('/tokens/search', body, key)).status).toBe(400);
    }
  });

  it('answers 401, 403, 413 and 415', async () => {
    const body = { query: run };
    expect((await api.post('/tokens/search', body, 'nobody')).status).toBe(401);
    const reader = await api.keyWith('private', ['token:read']);
    expect((await api.post('/tokens/search', body, reader)).status).toBe(403);
    const large = { query: 'x'.repeat(2 * 1024 * 1024) };
    const key = api.tenant.private_key;
    expect((await api.post('/tokens/search', large, key)).status).toBe(413);
    const typed = api.post('/tokens/search', body, key).set('Content-Type', 'text/plain');
    expect((await typed).status).toBe(415);
  });

  it('search terms of tokens are stored as keyed hashes', async () => {
    const rows = await api.ctx.dataSource.transaction(async (manager) => {
      const tenant = [api.tenant.tenant_id];
      await manager.query(`SELECT set_config('glovebox.tenant_id', $1, true)`, tenant);
      return manager.query<{ term: string }[]>('SELECT term FROM token_terms');
    });
    expect(rows.length).toBeGreaterThan(5);
    for (const { term } of rows) expect(term).toMatch(/^[\w-]{43}$/);
    expect(new Set(rows.map(({ term }) => term)).size).toBeLessThan(rows.length);
  });
});
