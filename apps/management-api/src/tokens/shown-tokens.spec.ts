import { randomUUID } from 'node:crypto';
import { rule as ruleOf, useTestApi } from '../spec-api';

const api = useTestApi();

const everything = ['token:create', 'token:read', 'token:search', 'token:update', 'token:delete'];
const rule = (transform: string, container: string, permissions = everything, priority = 1) =>
  ruleOf(transform, container, permissions, priority);
const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 };
const masked = { ...card, number: 'XXXXXXXXXXXX4242' };

const stored = (token: object, key?: string): Promise<string> => api.storedToken(token, key);

async function logged(id: string): Promise<{ operation: string; token_ids?: string[] }[]> {
  const { body } = await api.get(`/logs?entity_type=token&entity_id=${id}`);
  return (body as { data: { operation: string; token_ids?: string[] }[] }).data;
}

describe('a rule', () => {
  it('shows the data by reveal, the mask by mask, and neither by redact', async () => {
    const id = await stored({ type: 'card', data: card });
    for (const [transform, shown] of [
      ['reveal', card],
      ['mask', masked],
      ['redact', undefined],
    ] as const) {
      const key = await api.keyWith('private', [], [rule(transform, '/')]);
      const answers = await Promise.all([
        api.get(`/tokens/${id}`, key),
        api.patch(`/tokens/${id}`, {}, key),
        api.patch(`/tokens/${id}`, { metadata: { seen: transform } }, key),
        api.post('/tokens', { type: 'card', data: card }, key),
      ]);
      for (const { body } of answers) expect([transform, body.data]).toEqual([transform, shown]);
      const list = await api.get(`/tokens?id=${id}`, key);
      const search = await api.post('/tokens/search', { query: `id:${id}` }, key);
      for (const { status, body } of [list, search]) {
        expect([status, body.data.length, body.data[0]?.data]).toEqual([200, 1, shown]);
      }
    }
  });

  it('is not needed to see the mask: plain permissions show it, and no data without a mask', async () => {
    const plain = api.tenant.private_key;
    const [withMask, without] = [
      await stored({ type: 'card', data: card }),
      await stored({ data: card }),
    ];
    expect((await api.get(`/tokens/${withMask}`, plain)).body.data).toEqual(masked);
    expect((await api.get(`/tokens/${without}`, plain)).body).not.toHaveProperty('data');
  });

  it('with the lowest priority wins, then the most specific container, then plain permissions', async () => {
    const id = await stored({ type: 'card', data: card });
    const seenBy = async (rules: object[], permissions: string[] = []): Promise<unknown> => {
      const key = await api.keyWith('private', permissions, rules);
      const { body } = await api.get(`/tokens/${id}`, key);
      return (body as { data?: unknown }).data;
    };
    const read = ['token:read'];
    expect(
      await seenBy([rule('redact', '/pci/high/', read, 2), rule('reveal', '/', read, 1)]),
    ).toEqual(card);
    expect(await seenBy([rule('reveal', '/', read), rule('redact', '/pci/', read)])).toBe(
      undefined,
    );
    expect(await seenBy([rule('redact', '/', read)], read)).toBe(undefined);
    expect(await seenBy([rule('reveal', '/bank/', read)], read)).toEqual(masked);
    // A rule that does not list the permission has no effect.
    expect(
      await seenBy([rule('redact', '/', ['token:use']), rule('reveal', '/', read, 9)]),
    ).toEqual(card);
  });

  it('never shows data to a public application', async () => {
    const permissions = ['token:create', 'token:update'];
    const key = await api.keyWith('public', [], [rule('reveal', '/', permissions)]);
    const created = await api.post('/tokens', { type: 'card', data: card }, key);
    expect([created.status, created.body.data]).toEqual([201, masked]);
    const { id } = created.body as { id: string };
    const changed = await api.patch(`/tokens/${id}`, { metadata: { a: 'b' } }, key);
    expect([changed.status, changed.body.data]).toEqual([200, masked]);
    const secret = await api.post('/tokens', { data: 'secret' }, key);
    expect(secret.text).not.toContain('"data"');
    const path = `/tokens/${id}`;
    expect((await api.get(path, key)).status).toBe(403);
    expect((await api.delete(path, key)).status).toBe(403);
    expect((await api.post('/detokenize', { a: `{{ ${id} }}` }, key)).status).toBe(403);
  });

  it('confirms no guess: public applications and redact get no fingerprint', async () => {
    const permissions = ['token:create', 'token:update'];
    const redact = [...permissions, 'token:read', 'token:search'];
    const number = '4242424242424242';
    const token = { type: 'card_number', data: number, fingerprint_expression: '{{ data }}' };
    for (const key of [
      await api.keyWith('public', permissions),
      await api.keyWith('public', [], [rule('reveal', '/', permissions)]),
      await api.keyWith('private', [], [rule('redact', '/', redact)]),
    ]) {
      const created = await api.post('/tokens', token, key);
      const path = `/tokens/${created.body.id as string}`;
      const tokenized = await api.post('/tokenize', [token], key);
      const changed = await api.patch(path, { metadata: { a: 'b' } }, key);
      expect([created.status, tokenized.status, changed.status]).toEqual([201, 201, 200]);
      for (const { text } of [created, tokenized, changed]) {
        expect(text).not.toContain('"fingerprint"');
      }
      expect((await api.get(path, api.tenant.private_key)).text).toContain('"fingerprint"');
    }
  });

  it('of redact shows nothing of the mask, and no search depends on the data', async () => {
    const data = 'sesame';
    const made = {
      mask: `${data} {{ data }}`,
      search_indexes: [data],
      metadata: { run: 'redact' },
    };
    const token = { data, ...made, fingerprint_expression: `${data} {{ data }}` };
    const id = await stored({ ...token, containers: ['/closed/'] });
    const openId = await stored({ ...token, containers: ['/closed/open/'] });
    const { body } = await api.get(`/tokens/${id}`, api.tenant.private_key);
    const { fingerprint } = body as { fingerprint: string };
    const rules = [rule('redact', '/'), rule('mask', '/closed/open/', everything, 1)];
    const key = await api.keyWith('private', [], rules);
    const found = async (query: string): Promise<string[]> => {
      const answer = await api.post('/tokens/search', { query }, key);
      return (answer.body as { data: { id: string }[] }).data.map((one) => one.id).sort();
    };
    const both = [id, openId].sort();
    expect(await found('metadata.run:redact')).toEqual(both);
    for (const term of [`data:${data}`, `fingerprint:${fingerprint}`]) {
      expect([term, await found(term)]).toEqual([term, [openId]]);
      expect([term, await found(`metadata.run:redact AND NOT ${term}`)]).toEqual([term, [id]]);
    }
    const path = `/tokens/${id}`;
    const search = await api.post('/tokens/search', { query: `id:${id}` }, key);
    const listed = await api.get(`/tokens?id=${id}`, key);
    for (const { status, text } of [await api.get(path, key), search, listed]) {
      expect([status, text.includes(data), text.includes('mask')]).toEqual([200, false, false]);
    }
    const again = await api.post('/tokens', { ...token, deduplicate_token: true }, key);
    expect(again.body.id).toBe(openId);
    await api.delete(`/tokens/${openId}`, key);
    const anew = await api.post('/tokens', { ...token, deduplicate_token: true }, key);
    expect([anew.status, anew.body.id === id]).toEqual([201, false]);
  });

  it('that reveals is a use with an audit line; one that masks is not', async () => {
    const id = await stored({ data: 'secret' });
    const reader = await api.keyWith('private', [], [rule('reveal', '/')]);
    await api.get(`/tokens/${id}`, api.tenant.private_key);
    await api.get(`/tokens/${id}`, reader);
    await api.patch(`/tokens/${id}`, { metadata: { a: 'b' } }, reader);
    const lines = await logged(id);
    expect(lines).toMatchObject([
      { operation: 'token.update', token_ids: [id] },
      { operation: 'token.read', token_ids: [id] },
      { operation: 'token.create' },
    ]);
    await api.get(`/tokens?id=${id}`, reader);
    await api.post('/tokens/search', { query: `id:${id}` }, reader);
    const { body } = await api.get(`/logs?entity_id=${api.tenant.tenant_id}&size=2`);
    expect((body as { data: object[] }).data).toMatchObject([
      { operation: 'token.search', token_ids: [id] },
      { operation: 'token.list', token_ids: [id] },
    ]);
    expect(JSON.stringify([lines, body])).not.toContain('secret');
  });
});

describe('the audit log', () => {
  interface Line {
    readonly operation: string;
    readonly outcome: string;
    readonly trace_id: string;
    readonly entity_id: string;
    readonly actor_id: string;
    readonly token_ids?: string[];
  }
  const linesOf = async (traceId: string): Promise<Line[]> => {
    const { body } = await api.get('/logs?size=100');
    return (body as { data: Line[] }).data.filter((line) => line.trace_id === traceId);
  };
  const elsewhere = () => api.keyWith('private', [], [rule('reveal', '/pci/')]);

  it('has one refused line with the id of a token that no grant covers', async () => {
    const id = await stored({ data: 'sesame' });
    const key = await elsewhere();
    const { body: application } = await api.get('/applications/key', key);
    const traceId = randomUUID();
    const refused = await api.get(`/tokens/${id}`, key).set('SVC-TRACE-ID', traceId);
    expect([refused.status, refused.body.code]).toEqual([403, 'permission_denied']);
    const lines = await linesOf(traceId);
    expect(lines).toEqual([
      {
        ...lines[0],
        actor_id: (application as { id: string }).id,
        operation: 'token.read',
        entity_type: 'token',
        entity_id: id,
        outcome: 'refused',
        token_ids: [id],
      },
    ]);
  });

  it('has no line, of any tenant, for a get of an id that is unknown, foreign or expired', async () => {
    const expired = await stored({ data: 1, expires_at: '2099-01-01T00:00:00Z' });
    await api.admin.query(`UPDATE tokens SET expires_at = now() - interval '1 s' WHERE id = $1`, [
      expired,
    ]);
    const foreign = await stored({ data: 1 }, api.foreign.private_key);
    const traceId = randomUUID();
    for (const id of [randomUUID(), foreign, expired]) {
      for (const key of [api.tenant.private_key, await elsewhere()]) {
        const { status } = await api.get(`/tokens/${id}`, key).set('SVC-TRACE-ID', traceId);
        expect(status).toBe(404);
      }
    }
    const all = await api.admin.query('SELECT 1 FROM audit_log WHERE trace_id = $1', [traceId]);
    expect(all).toEqual([]);
  });

  it('has one refused line with the ids of a page of more bytes than a request may open', async () => {
    const value = 'x'.repeat(1024 * 1024 - 2);
    const ids: string[] = [];
    for (let n = 0; n < 2; n += 1) {
      const token = { type: 'token', data: value, metadata: { run: 'large' } };
      const five = Array(5).fill(token);
      const { body } = await api.post('/tokenize', five, api.tenant.private_key);
      ids.push(...(body as { id: string }[]).map(({ id }) => id));
    }
    const key = await api.keyWith('private', [], [rule('reveal', '/')]);
    const [list, search] = [randomUUID(), randomUUID()];
    const listed = await api.get('/tokens?metadata.run=large', key).set('SVC-TRACE-ID', list);
    const query = { query: 'metadata.run:large' };
    const found = await api.post('/tokens/search', query, key).set('SVC-TRACE-ID', search);
    expect([listed.status, found.status]).toEqual([413, 413]);
    for (const [traceId, operation] of [
      [list, 'token.list'],
      [search, 'token.search'],
    ] as const) {
      const lines = await linesOf(traceId);
      expect(lines).toMatchObject([
        { operation, entity_type: 'tenant', entity_id: api.tenant.tenant_id, outcome: 'refused' },
      ]);
      expect(lines[0]?.token_ids?.toSorted()).toEqual(ids.toSorted());
    }
  });

  it('has no line for tokens that a list or a search leaves out', async () => {
    const id = await stored({ data: 1 });
    const key = await elsewhere();
    const traceId = randomUUID();
    const listed = await api.get(`/tokens?id=${id}`, key).set('SVC-TRACE-ID', traceId);
    const query = { query: `id:${id}` };
    const found = await api.post('/tokens/search', query, key).set('SVC-TRACE-ID', traceId);
    for (const { status, body } of [listed, found]) {
      expect([status, body.data]).toEqual([200, []]);
    }
    expect(await linesOf(traceId)).toEqual([]);
  });

  it('has no line for a refused change', async () => {
    const id = await stored({ data: 1 });
    const key = await elsewhere();
    const traceId = randomUUID();
    const path = `/tokens/${id}`;
    const patched = await api.patch(path, { data: 2 }, key).set('SVC-TRACE-ID', traceId);
    const deleted = await api.delete(path, key).set('SVC-TRACE-ID', traceId);
    expect([patched.status, deleted.status]).toEqual([403, 403]);
    expect(await linesOf(traceId)).toEqual([]);
  });
});

describe('a mask that the customer sets', () => {
  it('is evaluated over the data when the data is written', async () => {
    const mask = { last: '{{ data.number | last4 }}', month: '{{ data.expiration_month }}', a: 1 };
    const created = await api.post(
      '/tokens',
      { type: 'card', data: card, mask },
      api.tenant.private_key,
    );
    expect(created.body).toMatchObject({ mask, data: { last: '4242', month: 12, a: 1 } });
    const { id } = created.body as { id: string };
    const number = '5555555555554444';
    const changed = await api.patch(`/tokens/${id}`, { data: { number } }, api.tenant.private_key);
    expect(changed.body).toMatchObject({ mask, data: { last: '4444', month: 12, a: 1 } });
    const without = await api.patch(`/tokens/${id}`, { mask: null }, api.tenant.private_key);
    expect(without.body.data).toEqual({ ...card, number: 'XXXXXXXXXXXX4444' });
    expect(without.body).not.toHaveProperty('mask');
  });

  it.each([
    ['an expression over something else', '{{ some-token }}'],
    ['a path to nothing', { a: '{{ data.nothing }}' }],
    ['a filter that is none', '{{ data | explode }}'],
  ])(
    'is refused with 400 for %s, and the error shows the name of a filter at most',
    async (_, mask) => {
      const body = { data: { secret: 'of the customer' }, mask };
      const refused = await api.post('/tokens', body, api.tenant.private_key);
      expect([refused.status, Object.keys(refused.body.errors as object)]).toEqual([400, ['mask']]);
      expect(refused.text).not.toMatch(/customer|some-token/);
    },
  );

  it('is stored sealed together with its expression', async () => {
    const id = await stored({ data: 'open sesame', mask: 'sesame {{ data | last4 }}' });
    const rows: unknown[] = await api.ctx.dataSource.transaction(async (manager) => {
      await manager.query(`SELECT set_config('glovebox.tenant_id', $1, true)`, [
        api.tenant.tenant_id,
      ]);
      return manager.query(
        `SELECT encode(mask, 'escape') AS mask, encode(options, 'escape') AS options, t::text
         FROM tokens t WHERE id = $1`,
        [id],
      );
    });
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain('sesame');
  });
});

describe('without an audit log', () => {
  it('a call answers 503, shows nothing and stores nothing', async () => {
    const id = await stored({ data: 'sesame' });
    const key = await api.keyWith('private', [], [rule('reveal', '/')]);
    const countTokens = () => api.admin.query('SELECT count(*) FROM tokens');
    const before = await countTokens();
    await api.admin.query('REVOKE INSERT ON audit_log FROM glovebox_management');
    try {
      const answers = [
        await api.get(`/tokens/${id}`, key),
        await api.get(`/tokens?id=${id}`, key),
        await api.post('/tokens/search', { query: `id:${id}` }, key),
        await api.patch(`/tokens/${id}`, { metadata: { a: 'b' } }, key),
        await api.post('/tokens', { data: 'x' }, key),
        await api.post('/tokenize', '"x"', key),
        await api.post('/detokenize', `"{{ ${id} }}"`, key),
      ];
      for (const { status, text } of answers) {
        expect([status, text.includes('sesame')]).toEqual([503, false]);
      }
    } finally {
      await api.admin.query('GRANT INSERT ON audit_log TO glovebox_management');
    }
    expect(await countTokens()).toEqual(before);
    expect((await api.get(`/tokens/${id}`, key)).body).not.toHaveProperty('metadata');
  });
});
