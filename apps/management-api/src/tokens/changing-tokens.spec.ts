import { randomUUID } from 'node:crypto';
import { rule, useTestApi } from '../spec-api';

const api = useTestApi();

const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 };
const text = expect.any(String) as string;
const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();
const reveal = (container: string, permissions: string[]) => rule('reveal', container, permissions);

const stored = async (token: object): Promise<string> => `/tokens/${await api.storedToken(token)}`;

const change = (path: string, patch: unknown, key = api.tenant.private_key) =>
  api.patch(path, patch, key);

describe('PATCH /tokens/{id}', () => {
  let revealing: string;
  beforeAll(async () => {
    revealing = await api.keyWith('private', [], [reveal('/', ['token:read', 'token:update'])]);
  });

  it('merges the patch and answers 200 with the token', async () => {
    const path = await stored({ type: 'card', data: card, metadata: { a: '1', b: '2' } });
    const before = (await api.get(path, revealing)).body as Record<string, unknown>;
    const patch = {
      data: { cvc: '123', expiration_month: null },
      metadata: { b: null, c: '3' },
      containers: ['/PCI/Low/'],
      expires_at: inAnHour(),
      search_indexes: ['{{ data.number }}'],
      nonsense: true,
    };
    const changed = await change(path, patch, revealing);
    expect([changed.status, changed.body]).toEqual([
      200,
      {
        ...before,
        data: { number: card.number, expiration_year: 2030, cvc: '123' },
        metadata: { a: '1', c: '3' },
        containers: ['/pci/low/'],
        expires_at: patch.expires_at,
        search_indexes: patch.search_indexes,
        fingerprint: text,
        modified_by: text,
        modified_at: text,
      },
    ]);
    expect(changed.body.fingerprint).not.toBe(before.fingerprint);
    expect((await api.get(path, revealing)).body).toEqual(changed.body);
  });

  it('changes nothing for {} and unknown members', async () => {
    const path = await stored({ data: 'x' });
    const before = (await api.get(path, revealing)).body as object;
    const id = path.slice('/tokens/'.length).toUpperCase();
    for (const patch of [{}, { nonsense: 1 }, { type: 'token' }, { id }, '']) {
      const answer = await change(path, patch, revealing);
      expect([answer.status, answer.body]).toEqual([200, before]);
    }
  });

  it('removes optional members by null', async () => {
    const path = await stored({
      type: 'card_number',
      data: card.number,
      mask: 'card {{ data | last4 }}',
      containers: ['/mine/'],
      metadata: { a: '1' },
      search_indexes: ['{{ data }}'],
      fingerprint_expression: '{{ data | last4 }}',
      expires_at: inAnHour(),
    });
    for (const member of ['mask', 'metadata', 'search_indexes', 'fingerprint_expression']) {
      const changed = await change(path, { [member]: null });
      expect([member, changed.status]).toEqual([member, 200]);
      expect(changed.body).not.toHaveProperty(member);
    }
    const moved = await change(path, { containers: null, expires_at: null });
    expect(moved.body).toMatchObject({ containers: ['/pci/high/'], data: 'XXXXXXXXXXXX4242' });
    expect(moved.body).not.toHaveProperty('expires_at');
  });

  it('loses nothing when two are sent at once', async () => {
    const path = await stored({ data: { a: 0 } });
    const names = Array.from({ length: 8 }, (_, at) => `n${at}`);
    const answers = await Promise.all(
      names.map((name) => change(path, { data: { [name]: 1 }, metadata: { [name]: '1' } })),
    );
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
    const { body } = await api.get(path, revealing);
    const merged = body as { data: object; metadata: object };
    expect(Object.keys(merged.data).sort()).toEqual(['a', ...names]);
    expect(Object.keys(merged.metadata).sort()).toEqual(names);
  });

  it.each([
    ['data', { data: null }],
    ['type', { type: 'bank' }],
    ['type', { type: null }],
    ['id', { id: 'another' }],
    ['data.number', { data: { number: '4242424242424241' } }],
    ['data', { data: 'x'.repeat(1024 * 1024) }],
    ['metadata', { metadata: { a: 1 } }],
    ['metadata', { metadata: ['a'] }],
    ['containers', { containers: ['/a/', '/b/'] }],
    ['containers', { containers: '/a/' }],
    ['search_indexes.0', { search_indexes: ['{{ nothing }}'] }],
    ['search_indexes', { search_indexes: 'x' }],
    ['fingerprint_expression', { fingerprint_expression: '{{ data.nothing }}' }],
    ['expires_at', { expires_at: '2020-01-01T00:00:00Z' }],
    ['expires_at', { expires_at: '2099-02-30T00:00:00Z' }],
    ['expires_at', { expires_at: '8/26/2099' }],
    ['body', [1]],
  ])('refuses %s with 400', async (member, patch) => {
    const path = await stored(member === 'data' ? { data: 1 } : { type: 'card', data: card });
    const before = (await api.get(path, revealing)).body as object;
    const refused = await change(path, patch, revealing);
    expect([refused.status, Object.keys(refused.body.errors as object)]).toEqual([400, [member]]);
    expect((await api.get(path, revealing)).body).toEqual(before);
  });

  it.each(['{"data":{"__proto__":{}}}', '{"data":[{"constructor":1}]}', '{"prototype":1}'])(
    'refuses reserved names with 400: %s',
    async (patch) => {
      const refused = await change(await stored({ data: {} }), patch);
      expect([refused.status, refused.body]).toMatchObject([400, { code: 'invalid_json' }]);
    },
  );

  it('answers 401, 403 for permission and container, 404, 413 and 415', async () => {
    const path = await stored({ data: 1 });
    expect((await change(path, {}, 'nobody')).status).toBe(401);
    const reader = await api.keyWith('private', ['token:read']);
    expect((await change(path, {}, reader)).status).toBe(403);
    const elsewhere = await api.keyWith('private', [], [reveal('/pci/', ['token:update'])]);
    expect((await change(path, {}, elsewhere)).status).toBe(403);
    expect((await change(path, '{"bad', elsewhere)).status).toBe(403);
    expect((await change(path, {}, api.foreign.private_key)).status).toBe(404);
    const unknown = `/tokens/${randomUUID()}`;
    const large = { data: 'x'.repeat(5 * 1024 * 1024) };
    expect((await change(unknown, large)).status).toBe(404);
    expect((await change(path, large)).status).toBe(413);
    const answer = await change(path, {}).set('Content-Type', 'application/json');
    expect(answer.status).toBe(415);
    const patched = await change(path, {}).set(
      'Content-Type',
      'application/merge-patch+json; charset=utf-8',
    );
    expect(patched.status).toBe(200);
  });

  it.each([
    ['mask', { mask: '{{ data }}' }],
    ['mask', { mask: { a: ['{{ data.number | last4 }}'] }, data: {} }],
    ['search_indexes', { search_indexes: ['{{ data.nothing }}'] }],
    ['search_indexes', { search_indexes: ['{{ data.number }}'], data: { cvc: '123' } }],
    ['fingerprint_expression', { fingerprint_expression: "{{ data | json: '$.cvc' }}" }],
  ])('answers 403 where %s would disclose hidden data: %j', async (member, patch) => {
    const path = await stored({ type: 'card', data: card });
    const before = (await api.get(path, revealing)).body as object;
    const [update, all] = ['token:update', 'token:read'];
    for (const key of [
      api.tenant.private_key,
      await api.keyWith('public', [update]),
      await api.keyWith('public', [], [reveal('/', [update])]),
      await api.keyWith('private', [], [{ ...reveal('/', [update]), transform: 'redact' }]),
      await api.keyWith('private', [update], [reveal('/', [all]), reveal('/bank/', [update])]),
    ]) {
      const { status, body, text: answer } = await change(path, patch, key);
      expect([status, body.code, answer.includes(member)]).toEqual([
        403,
        'permission_denied',
        true,
      ]);
      expect(answer).not.toContain('4242');
    }
    expect((await api.get(path, revealing)).body).toEqual(before);
  });

  it('accepts a literal mask, and any expression over data that replaces the old', async () => {
    const path = await stored({ data: 'old', mask: '{{ data }}' });
    const key = await api.keyWith('public', ['token:update']);
    const patches = [{ mask: 'hidden' }, { data: 'newer', mask: '{{ data | last4 }}' }];
    for (const [at, data] of ['hidden', 'ewer'].entries()) {
      const changed = await change(path, patches[at], key);
      expect([changed.status, changed.body.data]).toEqual([200, data]);
    }
  });

  it('moves a token only between containers that the caller may both update', async () => {
    const [here, there] = ['/here/', '/there/'];
    const only = (container: string) =>
      api.keyWith('private', [], [reveal(container, ['token:update'])]);
    const path = await stored({ data: 1, containers: [here] });
    const move = { containers: [there] };
    expect((await change(path, move, await only(here))).status).toBe(403);
    expect((await change(path, move, await only(there))).status).toBe(403);
    expect((await api.get(path, api.tenant.private_key)).body).toMatchObject({
      containers: [here],
    });
    const both = await api.keyWith(
      'private',
      [],
      [reveal(here, ['token:update']), reveal(there, ['token:update'])],
    );
    const moved = await change(path, move, both);
    expect([moved.status, moved.body.containers]).toEqual([200, [there]]);
  });
});

describe('moving a token', () => {
  const update = ['token:update'];
  it.each([
    ['token:read', [rule('reveal', '/open/', ['token:read'])], ['token:read']],
    ['token:read', [rule('mask', '/open/', ['token:read'])], []],
    ['token:search', [rule('reveal', '/open/', ['token:search'])], []],
    ['token:use', [rule('mask', '/pci/', ['token:use'])], ['token:use']],
    ['token:update', [rule('redact', '/pci/', update)], []],
  ])('is 403 where %s would show the caller more: %j', async (permission, rules, permissions) => {
    const path = await stored({ type: 'card', data: card });
    const key = await api.keyWith('private', [...update, ...permissions], rules);
    const refused = await change(path, { containers: ['/open/'] }, key);
    expect([refused.status, refused.body.code]).toEqual([403, 'permission_denied']);
    expect(refused.body.detail).toContain(permission);
    const { body } = await api.get(path, api.tenant.private_key);
    expect(body).toMatchObject({ containers: ['/pci/high/'] });
  });

  it('is 200 where the caller sees as much or less', async () => {
    const path = await stored({ type: 'card', data: card });
    const rules = [rule('redact', '/closed/', ['token:read'])];
    const key = await api.keyWith('private', [...update, 'token:read'], rules);
    expect((await change(path, { containers: ['/pci/low/'] }, key)).status).toBe(200);
    expect((await change(path, { containers: ['/closed/'] }, key)).status).toBe(200);
    expect((await change(path, { containers: ['/pci/low/'] }, key)).status).toBe(403);
  });
});

describe('DELETE /tokens/{id}', () => {
  it('answers 204, then 404 for every operation', async () => {
    const path = await stored({ data: 1, metadata: { a: 'b' }, search_indexes: ['{{ data }}'] });
    const key = api.tenant.private_key;
    const deleted = await api.delete(path, key);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await api.delete(path, key)).status).toBe(404);
    expect((await api.get(path, key)).status).toBe(404);
    expect((await change(path, {})).status).toBe(404);
    const id = path.slice('/tokens/'.length);
    const used = await api.post('/detokenize', { a: `{{ ${id} }}` }, key);
    expect([used.status, used.body]).toMatchObject([400, { code: 'unknown_token' }]);
    const { body } = await api.get(`/logs?entity_id=${id}&operation=token.delete`);
    expect((body as { data: object[] }).data).toHaveLength(1);
  });

  it('answers 401, 403 for permission and container, and 404', async () => {
    const path = await stored({ data: 1 });
    expect((await api.delete(path, 'nobody')).status).toBe(401);
    const reader = await api.keyWith('private', ['token:read', 'token:update']);
    expect((await api.delete(path, reader)).status).toBe(403);
    const elsewhere = await api.keyWith('private', [], [reveal('/pci/', ['token:delete'])]);
    expect((await api.delete(path, elsewhere)).status).toBe(403);
    expect((await api.delete(path, api.foreign.private_key)).status).toBe(404);
    expect((await api.delete('/tokens/a%00b', api.tenant.private_key)).status).toBe(404);
    expect((await api.get(path, api.tenant.private_key)).status).toBe(200);
  });
});
