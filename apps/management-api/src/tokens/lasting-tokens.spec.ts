import { randomUUID } from 'node:crypto';
import { rule, useTestApi } from '../spec-api';

const api = useTestApi();

const revealing = rule('reveal', '/', ['token:read']);
const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();
const create = (token: object, key = api.tenant.private_key) => api.post('/tokens', token, key);
const expire = (id: string): Promise<unknown> =>
  api.admin.query(`UPDATE tokens SET expires_at = now() - interval '1 second' WHERE id = $1`, [id]);
const fingerprintOf = async (token: object, key?: string): Promise<string> =>
  ((await create(token, key)).body as { fingerprint: string }).fingerprint;

describe('the fingerprint', () => {
  it('is the same for equal tenant, type and data, however these are written', async () => {
    const token = { type: 'token', data: { a: 1, b: [{ c: 2, d: null }] } };
    const first = await fingerprintOf(token);
    expect(await fingerprintOf({ ...token, data: { b: [{ d: null, c: 2.0 }], a: 1 } })).toBe(first);
    expect(await fingerprintOf({ ...token, data: { a: 1, b: [] } })).not.toBe(first);
    expect(await fingerprintOf(token, api.foreign.private_key)).not.toBe(first);
    const number = '4242424242424242';
    expect(await fingerprintOf({ type: 'card_number', data: number })).not.toBe(
      await fingerprintOf({ data: number }),
    );
  });

  it('is computed from fingerprint_expression', async () => {
    const of = (data: object, fingerprint_expression: string) =>
      fingerprintOf({ data, fingerprint_expression });
    const first = await of({ a: 1, b: 2 }, '{{ data.a }}');
    expect(await of({ a: 1, b: 3 }, '{{ data.a }}')).toBe(first);
    expect(await of({ a: 2, b: 2 }, '{{ data.a }}')).not.toBe(first);
  });
});

describe('deduplicate_token', () => {
  it('answers 200 with the existing token and stores nothing', async () => {
    const token = { data: randomUUID(), deduplicate_token: true };
    const first = await create(token);
    const second = await create({ ...token, metadata: { a: 'b' } });
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.body).toMatchObject({ ...first.body, modified_at: first.body.created_at });
    const { deduplicate_token: _, ...again } = token;
    const third = await create(again);
    expect([third.status, third.body.id === first.body.id]).toEqual([201, false]);
  });

  it('makes one token of two concurrent calls', async () => {
    for (let round = 0; round < 3; round += 1) {
      const token = { data: randomUUID(), deduplicate_token: true };
      const answers = await Promise.all(Array.from({ length: 6 }, () => create(token)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201]);
      expect(new Set(answers.map(({ body }) => (body as { id: string }).id)).size).toBe(1);
    }
  });

  it('never shows a token that the caller may not read', async () => {
    const data = randomUUID();
    const first = await create({ data, containers: ['/hidden/'], metadata: { who: 'secret' } });
    const rule = { priority: 1, container: '/general/', transform: 'reveal' };
    const elsewhere = await api.keyWith(
      'private',
      ['token:create'],
      [{ ...rule, permissions: ['token:read'] }],
    );
    const writer = await api.keyWith('public', ['token:create']);
    for (const key of [elsewhere, writer, api.foreign.private_key]) {
      const answer = await create({ data, deduplicate_token: true }, key);
      expect([answer.status, answer.body.id === first.body.id]).toEqual([201, false]);
      expect(answer.text).not.toContain('secret');
    }
  });

  it('ignores a token that has expired', async () => {
    const token = { data: randomUUID(), deduplicate_token: true, expires_at: inAnHour() };
    const first = await create(token);
    await expire(first.body.id as string);
    expect((await create(token)).status).toBe(201);
  });

  it('shows a replayed token by the grants that the caller has then', async () => {
    const mine = randomUUID();
    const token = { type: 'token', data: `sesame ${mine}`, deduplicate_token: true };
    const first = await create({ ...token, metadata: { who: 'owner' } });
    const key = await api.keyWith('private', ['token:create'], [revealing]);
    const { body: app } = await api.get('/applications/key', key);
    const body = JSON.stringify([token, { ...token, data: mine }]);
    const once = () => create(token, key).set('SVC-IDEMPOTENCY-KEY', mine);
    const many = () => api.post('/tokenize', body, key).set('SVC-IDEMPOTENCY-KEY', mine);
    const before = [await once(), await many()];
    expect(before.map(({ status }) => status)).toEqual([200, 201]);
    for (const { text } of before) {
      expect([text.includes('sesame'), text.includes('owner')]).toEqual([true, true]);
    }
    await api.patch(`/applications/${(app as { id: string }).id}`, { rules: [] });
    const [single, document] = [await once(), await many()];
    expect([single.status, single.body.id === first.body.id]).toEqual([201, false]);
    expect([document.status, document.body]).toMatchObject([403, { code: 'permission_denied' }]);
    for (const { text } of [single, document]) expect(text).not.toContain('owner');
  });

  it('replays the outcome of a new token with its status', async () => {
    const again = randomUUID();
    const [one, two] = [
      await create({ data: 'x' }).set('SVC-IDEMPOTENCY-KEY', again),
      await create({ data: 'x' }).set('SVC-IDEMPOTENCY-KEY', again),
    ];
    expect([one.status, two.status, two.body]).toEqual([201, 201, one.body]);
  });
});

describe('expires_at', () => {
  it('hides the token at once from reads, uses, searches and changes, and frees its id', async () => {
    const id = `mine-${randomUUID()}`;
    const key = api.tenant.private_key;
    const token = { id, data: 'x', expires_at: inAnHour(), search_indexes: [`{{ data }}`] };
    expect((await create(token)).status).toBe(201);
    await expire(id);
    expect((await api.get(`/tokens/${id}`, key)).status).toBe(404);
    expect((await api.patch(`/tokens/${id}`, {}, key)).status).toBe(404);
    expect((await api.delete(`/tokens/${id}`, key)).status).toBe(404);
    expect((await api.get(`/tokens?id=${id}`, key)).body).toMatchObject({ data: [] });
    const found = await api.post('/tokens/search', { query: `id:${id}` }, key);
    expect(found.body).toMatchObject({ data: [] });
    expect((await api.post('/detokenize', `"{{ ${id} }}"`, key)).status).toBe(400);
    const anew = await create({ id, data: 'y' });
    expect([anew.status, anew.body.expires_at]).toEqual([201, undefined]);
    const old = await api.post('/tokens/search', { query: `data:x AND id:${id}` }, key);
    expect(old.body).toMatchObject({ data: [] });
  });

  it('refuses a day that does not exist or is in the past with 400', async () => {
    for (const expires_at of [
      '2099-02-30T00:00:00Z',
      '2099-13-01T00:00:00Z',
      '9999-12-31T23:59:59-00:01',
      '2020-01-01T00:00:00Z',
    ]) {
      const refused = await create({ data: 1, expires_at });
      expect([refused.status, Object.keys(refused.body.errors as object)]).toEqual([
        400,
        ['expires_at'],
      ]);
    }
  });

  it('lets housekeeping remove the row with its search terms, and no other row', async () => {
    const token = { data: 1, metadata: { a: 'b' }, expires_at: inAnHour() };
    const ids = await Promise.all(
      [0, 1, 2].map(async () => ((await create(token)).body as { id: string }).id),
    );
    const [first = '', second = '', third = ''] = ids;
    await Promise.all([expire(first), expire(second)]);
    await api.admin.query('SELECT delete_expired_tokens(1000)');
    const left = (table: string, column: string) =>
      api.admin.query(`SELECT DISTINCT ${column} AS id FROM ${table} WHERE ${column} = ANY ($1)`, [
        ids,
      ]);
    expect(await left('tokens', 'id')).toEqual([{ id: third }]);
    expect(await left('token_terms', 'token_id')).toEqual([{ id: third }]);
  });
});
