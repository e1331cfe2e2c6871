import type { Actor } from '@glovebox/access';
import { connectDatabase, type Pagination } from '@glovebox/database';
import type { TokenFilter } from '@glovebox/vault';
import { asSql, inTenant } from '../database/in-tenant';
import { countingSql } from '../spec-plans';
import { useTestApi } from '../spec-api';

const count = 30_000;
/** The share of the tokens that a metadata finds: one in so many. */
const oneIn = { all: 1, half: 2, few: 10_000 } as const;
const api = useTestApi();

beforeAll(async () => {
  const samples = new Map<string, string>();
  for (const name of Object.keys(oneIn)) {
    samples.set(name, await api.storedToken({ data: 1, metadata: { [name]: 'yes' } }));
  }
  // Copies of one token. Few of them are cards, and few are in a container of their own.
  await api.admin.query(
    `INSERT INTO tokens (tenant_id, id, type, container, data, metadata, fingerprint, created_at)
     SELECT tenant_id, 'copy-' || n, CASE WHEN n % 1000 = 0 THEN 'card' ELSE type END,
       CASE WHEN n % 2000 = 0 THEN '/rare/' ELSE container END, data, metadata, fingerprint,
       created_at - n * interval '1 ms'
     FROM tokens, generate_series(1, ${count}) n WHERE id = $1`,
    [samples.get('all')],
  );
  for (const [name, every] of Object.entries(oneIn)) {
    await api.admin.query(
      `INSERT INTO token_terms (tenant_id, term, token_id)
       SELECT tenant_id, term, 'copy-' || n FROM token_terms, generate_series(1, ${count}) n
       WHERE token_id = $1 AND n % $2 = 0`,
      [samples.get(name), every],
    );
  }
  await api.admin.query('DELETE FROM tokens WHERE id = ANY ($1)', [[...samples.values()]]);
  // Postgres would read the tables of a single tenant whole rather than by index.
  for (const [table, columns] of [
    ['tokens', 'id, type, container, data, metadata, fingerprint, created_at'],
    ['token_terms', 'term, token_id'],
  ]) {
    await api.admin.query(
      `INSERT INTO ${table} (tenant_id, ${columns}) SELECT $1, ${columns} FROM ${table}`,
      [api.foreign.tenant_id],
    );
  }
  await api.admin.query('VACUUM ANALYZE tokens, token_terms');
});

/** An application that may see the tokens in the container. */
function actorIn(container: string): Actor {
  const { tenant_id: tenantId } = api.tenant;
  const permissions = ['token:read', 'token:search'] as const;
  const rule = { description: '', container, transform: 'mask', priority: 1 } as const;
  return {
    principal: {
      actorId: tenantId,
      tenantId,
      type: 'private',
      permissions: [],
      rules: [{ ...rule, permissions }],
    },
    traceId: 't',
  };
}

/** Looks for tokens as an application that may see those in the container. */
async function look(
  wanted: TokenFilter | string,
  { page = 1, container = '/' } = {},
): Promise<{
  readonly pagination: Pagination;
  readonly ids: string[];
  readonly rowsRead: number[];
}> {
  const { tenant_id: tenantId } = api.tenant;
  const actor = actorIn(container);
  const query = { page, size: 20 };
  return inTenant(api.ctx.dataSource, tenantId, async (manager) => {
    const sql = countingSql(asSql(manager));
    const { vault } = api.ctx;
    const { pagination, parts } =
      typeof wanted === 'string'
        ? await vault.findSearched(sql, actor, wanted, query)
        : await vault.findListed(sql, actor, wanted, query);
    const tokens = await parts.all(sql);
    return { pagination, ids: tokens.map(({ id }) => id), rowsRead: sql.rowsRead };
  });
}

describe('a tenant with 30,000 tokens of 60,000', () => {
  it.each<[wanted: TokenFilter | string, items: number, container?: string]>([
    [{}, count],
    [{ types: ['card'] }, count / 1_000],
    [{ types: ['card', 'token'] }, count],
    [{}, count / 2_000, '/rare/'],
    [{ metadata: { few: 'yes' } }, count / oneIn.few],
    ['metadata.few:yes', count / oneIn.few],
    ['metadata.half:yes AND metadata.few:yes', count / oneIn.few],
    ['metadata.few:yes OR type:card', count / 1_000],
    ['type:card AND NOT metadata.all:yes OR metadata.few:yes', count / oneIn.few],
    ['metadata.all:yes AND container:/rare/', count / 2_000],
    ['metadata.all:yes AND metadata.half:yes', count / 2_000, '/rare/'],
    ['NOT type:token', count / 1_000],
    ['container:/general/* OR container:/rare/', count],
    ['id:copy-7 OR id:copy-4711', 2],
  ])('counts %j exactly: %d', async (wanted, items, container = '/') => {
    const { pagination, ids, rowsRead } = await look(wanted, { container });
    expect(pagination.total_items).toBe(items);
    expect(pagination.total_items_is_estimate).toBeUndefined();
    expect(ids).toHaveLength(Math.min(items, 20));
    expect([...ids].sort(byTime)).toEqual(ids);
    expect(Math.max(...rowsRead)).toBeLessThanOrEqual(10_001);
  });

  it.each<[wanted: TokenFilter | string, items: number]>([
    ['metadata.all:yes', count],
    [{ metadata: { half: 'yes' } }, count / oneIn.half],
    ['metadata.half:yes OR metadata.few:yes', count / oneIn.half],
    ['metadata.all:yes AND type:token', count],
  ])('estimates %j, of which there are %d, from 10,001 of them', async (wanted, items) => {
    for (const page of [1, 700]) {
      const { pagination, ids, rowsRead } = await look(wanted, { page });
      expect(pagination.total_items_is_estimate).toBe(true);
      expect(pagination.total_items).toBeGreaterThan(items / 3);
      expect(pagination.total_items).toBeLessThan(items * 3);
      expect(pagination.total_pages).toBeGreaterThan(page);
      expect(ids).toHaveLength(20);
      // A token of several sources is looked for in the first as well.
      expect(Math.max(...rowsRead)).toBeLessThan(Math.max(10_001, page * 20 + 1) * 2.5);
    }
  });

  it('counts an estimated list exactly on its last page, and finds nothing behind that', async () => {
    const last = await look('metadata.half:yes', { page: 750 });
    expect(last.pagination).toEqual({
      total_items: 15_000,
      page_number: 750,
      page_size: 20,
      total_pages: 750,
    });
    expect(last.ids.at(-1)).toBe('copy-30000');
    const past = await look('metadata.half:yes', { page: 751 });
    expect([past.ids, past.pagination.total_pages <= 751]).toEqual([[], true]);
    const far = await look({}, { page: Number.MAX_SAFE_INTEGER });
    expect([far.ids, far.pagination.total_items]).toEqual([[], count]);
    expect(Math.max(...far.rowsRead)).toBeLessThanOrEqual(50_000);
  });

  it('finds the tokens of a rule and of a type that no count knows', async () => {
    await api.admin.transaction(async (sql) => {
      await sql.query('ALTER TABLE tokens DISABLE TRIGGER USER');
      await sql.query(
        `INSERT INTO tokens (tenant_id, id, type, container, data, fingerprint, created_at)
         SELECT tenant_id, 'uncounted', 'bank', '/uncounted/', data, '', created_at
         FROM tokens WHERE tenant_id = $1 AND id = 'copy-30000'`,
        [api.tenant.tenant_id],
      );
      await sql.query('ALTER TABLE tokens ENABLE TRIGGER USER');
    });
    for (const [wanted, container] of [
      [{}, '/uncounted/'],
      [{ types: ['bank'] }, '/'],
      ['type:bank OR container:/uncounted/*', '/'],
    ] as const) {
      const { ids, pagination } = await look(wanted, { container });
      expect([ids, pagination.total_items]).toEqual([['uncounted'], 1]);
    }
    await api.admin.query(`DELETE FROM tokens WHERE id = 'uncounted'`);
  });

  it('says which term a search that takes too long has to be narrowed by, and estimates one that takes too long to count', async () => {
    const { tenant_id: tenantId } = api.tenant;
    const database = connectDatabase({
      url: api.database.managementUrl,
      app: 'spec',
      connectionsMax: 1,
      statementTimeoutMs: 150,
    });
    const terms = Array.from({ length: 18 }, (_, n) => `NOT metadata.none${n}:yes`).join(' AND ');
    const page = { page: 1, size: 20 };
    try {
      const found = await api.ctx.vault.findSearched(
        database.viewOf(tenantId),
        actorIn('/'),
        `metadata.all:yes AND ${terms}`,
        page,
      );
      expect(found.pagination).toMatchObject({ total_items_is_estimate: true, page_number: 1 });
      const broad = api.ctx.vault.findSearched(
        database.viewOf(tenantId),
        actorIn('/'),
        `metadata.all:yes AND ${terms} AND NOT metadata.all:yes`,
        page,
      );
      await expect(broad).rejects.toMatchObject({
        code: 'service_unavailable',
        detail:
          'The search took too long. It looks at each token of metadata.all, until the page is full. ' +
          'Add a term that fewer tokens meet.',
      });
    } finally {
      await database.close();
    }
  });

  it('walks a search by its cursors, and finds each token once', async () => {
    const key = api.tenant.private_key;
    const found: string[] = [];
    let after: string | undefined;
    do {
      const query = { query: 'type:card OR metadata.few:yes', size: 7, after };
      const { status, body } = await api.post('/tokens/search', query, key);
      expect([status, body]).toEqual([200, body]);
      const { data, pagination } = body as { data: { id: string }[]; pagination: Pagination };
      found.push(...data.map(({ id }) => id));
      after = pagination.after;
    } while (after !== undefined);
    expect(found).toEqual(Array.from({ length: 30 }, (_, n) => `copy-${(n + 1) * 1_000}`));
    for (const wrong of [{ after: 'x' }, { after: '' }, { after: 'MS4yMC5h', page: 1 }]) {
      const refused = await api.post('/tokens/search', { query: 'type:card', ...wrong }, key);
      expect([refused.status, Object.keys(refused.body.errors as object)]).toEqual([
        400,
        ['after'],
      ]);
    }
  });
});

const byTime = (one: string, other: string): number =>
  Number(one.slice(5)) - Number(other.slice(5));
