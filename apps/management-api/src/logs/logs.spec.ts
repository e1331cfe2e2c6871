import { randomUUID } from 'node:crypto';
import { connectDatabase, type Pagination } from '@glovebox/database';
import { waitFor } from '@glovebox/testing';
import { TokenUses } from '@glovebox/vault';
import { asSql, inTenant } from '../database/in-tenant';
import { scansOf, vacuum, countingSql } from '../spec-plans';
import { useTestApi } from '../spec-api';
import { readLogQuery, type AuditLine } from './logs.dto';
import { findLines, linesByKey } from './logs.service';

const api = useTestApi();

const text = expect.any(String) as string;

async function lines(query: string, key = api.tenant.management_key): Promise<AuditLine[]> {
  const answer = await api.get(`/logs${query}`, key);
  expect(answer.status).toBe(200);
  return (answer.body as { data: AuditLine[] }).data;
}

describe('GET /logs', () => {
  it('answers 200 with actor, operation, entity and trace of each line, newest first', async () => {
    const own = (await api.get('/applications/key')).body as { id: string };
    const created = await api
      .post('/applications', { name: 'a', type: 'public', permissions: ['token:create'] })
      .set('SVC-TRACE-ID', 'trace-1');
    const { id } = created.body as { id: string };
    await api.patch(`/applications/${id}`, { name: 'b' });
    await api.post(`/applications/${id}/keys`, '');
    await api.post(`/applications/${id}/regenerate`, '');
    await api.delete(`/applications/${id}`);
    const found = await lines(`?entity_id=${id.toUpperCase()}`);
    expect(found.map(({ operation }) => operation)).toEqual([
      'application.delete',
      'application.regenerate',
      'application.create_key',
      'application.update',
      'application.create',
    ]);
    expect(found.at(-1)).toEqual({
      id: expect.stringMatching(/^\d+$/) as string,
      actor_id: own.id,
      actor: { type: 'application', id: own.id, name: 'Tenant management' },
      operation: 'application.create',
      entity_type: 'application',
      entity_id: id,
      outcome: 'success',
      trace_id: 'trace-1',
      created_at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    });
  });

  it('has a line for every write of a resource, but none for a refused write or an empty patch', async () => {
    const code = 'module.exports = () => 1';
    const formula = await api.post('/reactor-formulas', { name: 'f', code });
    const { id } = formula.body as { id: string };
    await api.patch(`/reactor-formulas/${id}`, {});
    await api.patch(`/reactor-formulas/${id}`, { name: 'x' }, api.tenant.private_key);
    expect((await lines(`?entity_id=${id}`)).map(({ operation }) => operation)).toEqual([
      'formula.create',
    ]);
    await api.put('/tenants/self', { name: 'Tenant' });
    await api.post('/tenants/self/webhook-secret/rotate', '');
    await api.get('/tenants/self/webhook-secret');
    const ofTenant = await lines('?entity_type=tenant&size=3');
    expect(ofTenant.map(({ operation }) => operation)).toEqual([
      'tenant.read_webhook_secret',
      'tenant.rotate_webhook_secret',
      'tenant.update',
    ]);
  });

  it('names tokens and destination of a use of data, and no value', async () => {
    const secret = `secret ${randomUUID()}`;
    const created = await api.post('/tokens', { data: secret }, api.tenant.private_key);
    const { id } = created.body as { id: string };
    const proxyId = randomUUID();
    const grants = [{ container: '/', transform: 'reveal' }] as const;
    const data = connectDatabase({ url: api.database.dataUrl, app: 'spec', connectionsMax: 1 });
    try {
      const use = {
        tenantId: api.tenant.tenant_id,
        actorId: null,
        operation: 'proxy.invoke',
        entityType: 'proxy',
        entityId: proxyId,
        traceId: 't',
        destinationHost: 'bank.example',
      };
      const limits = { bytesMax: 1_024, atOnceMax: 1_024 };
      await new TokenUses(data).read({ use, grants, tokenIds: [id], limits });
    } finally {
      await data.close();
    }
    expect(await lines(`?entity_id=${proxyId}`)).toEqual([
      {
        id: text,
        operation: 'proxy.invoke',
        entity_type: 'proxy',
        entity_id: proxyId,
        outcome: 'success',
        trace_id: 't',
        token_ids: [id],
        destination_host: 'bank.example',
        created_at: text,
      },
    ]);
    expect((await api.get('/logs?size=100')).text).not.toContain(secret);
  });

  it('filters by the trace id of a call', async () => {
    const traced = (traceId: string) =>
      api.post('/tokens', { data: 1 }, api.tenant.private_key).set('SVC-TRACE-ID', traceId);
    const { id } = (await traced('order-7')).body as { id: string };
    await traced('order-8');
    expect(await lines('?trace_id=order-7')).toMatchObject([
      { operation: 'token.create', entity_id: id, trace_id: 'order-7' },
    ]);
    expect(await lines('?trace_id=order-7&operation=token.read')).toEqual([]);
    expect(await lines('?trace_id=order-7', api.foreign.management_key)).toEqual([]);
  });

  it('filters by operation, type and dates, both included', async () => {
    const before = new Date(Date.now() - 1).toISOString();
    await api.post('/tokens', { data: 1 }, api.tenant.private_key);
    const [line] = await lines(`?operation=token.create&entity_type=token&start_date=${before}`);
    const { id = '', created_at: at = '' } = line ?? {};
    const between = await lines(`?start_date=${at}&end_date=${at}`);
    expect(between.map((one) => one.id)).toContain(id);
    const later = new Date(Date.parse(at) + 1).toISOString();
    expect(await lines(`?operation=token.create&start_date=${later}`)).toEqual([]);
    const sooner = new Date(Date.parse(at) - 1).toISOString();
    const past = await lines(`?operation=token.create&end_date=${sooner}&size=100`);
    expect(past.map((one) => one.id)).not.toContain(id);
    // An offset whose plus sign is encoded.
    const offset = `${at.slice(0, -1)}%2B00:00`;
    expect(await lines(`?start_date=${offset}&end_date=${offset}`)).toEqual(between);
    expect(await lines('?start_date=0000-01-01T00:00:00Z&size=1')).toHaveLength(1);
    expect(await lines('?entity_type=nothing')).toEqual([]);
  });

  it('shows each line once in its pages', async () => {
    const all = await lines('?size=100');
    const answer = await api.get('/logs?size=3');
    expect((answer.body as { pagination: object }).pagination).toEqual({
      total_items: all.length,
      page_number: 1,
      page_size: 3,
      total_pages: Math.ceil(all.length / 3),
      after: text,
    });
    const pages: AuditLine[] = [];
    for (let page = 1; page <= Math.ceil(all.length / 3); page += 1) {
      pages.push(...(await lines(`?size=3&page=${page}`)));
    }
    expect(pages).toEqual(all);
    expect(await lines('?page=9007199254740991&size=100')).toEqual([]);
  });

  it('never shows lines of another tenant', async () => {
    const { tenant_id: id } = api.tenant;
    expect(await lines(`?entity_id=${id}`, api.foreign.management_key)).toEqual([]);
    const foreign = await lines('?size=100', api.foreign.management_key);
    const own = new Set((await lines('?size=100')).map((line) => line.id));
    expect(foreign.length).toBeGreaterThan(0);
    expect(foreign.filter((line) => own.has(line.id))).toEqual([]);
  });

  it.each([
    ['?start_date=yesterday', 'start_date'],
    ['?start_date=2026-01-01', 'start_date'],
    ['?start_date=2026-02-30T00:00:00Z', 'start_date'],
    ['?start_date=2026-01-01T00:00:00', 'start_date'],
    ['?end_date=2026-01-01T00:00:00Z&end_date=2026-01-01T00:00:00Z', 'end_date'],
    ['?operation=a&operation=b', 'operation'],
    ['?entity_type=%00', 'entity_type'],
    [`?trace_id=${'x'.repeat(65)}`, 'trace_id'],
    [`?entity_id=${'x'.repeat(401)}`, 'entity_id'],
    ['?page=0', 'page'],
    ['?size=101', 'size'],
  ])('refuses %s with 400', async (query, member) => {
    const refused = await api.get(`/logs${query}`);
    expect([refused.status, refused.body]).toMatchObject([
      400,
      { code: 'validation_failed', errors: { [member]: [text] } },
    ]);
  });

  it('answers 401 and 403', async () => {
    expect((await api.get('/logs', 'nobody')).status).toBe(401);
    expect((await api.get('/logs', api.tenant.private_key)).status).toBe(403);
    const other = await api.keyWith('management', ['tenant:read', 'application:read']);
    expect((await api.get('/logs', other)).status).toBe(403);
  });
});

describe('a tenant with 50,000 lines of 400,000', () => {
  const entityId = randomUUID();
  beforeAll(async () => {
    await api.admin.query(
      `INSERT INTO audit_log (tenant_id, at, operation, entity_type, entity_id, outcome, trace_id)
       SELECT CASE WHEN n % 8 = 0 THEN $1::uuid ELSE $2::uuid END,
         now() - interval '1 hour' + n * interval '1 ms',
         CASE WHEN n % 80000 = 0 THEN 'reactor.delete'
           ELSE (ARRAY['token.read', 'proxy.invoke'])[1 + n % 16 / 8] END,
         CASE WHEN n % 80000 = 0 THEN 'reactor' ELSE 'proxy' END,
         CASE WHEN n % 5000 = 0 THEN $3 ELSE gen_random_uuid()::text END, 'success', 'trace-' || n / 4
       FROM generate_series(1, 400000) n`,
      [api.tenant.tenant_id, api.foreign.tenant_id, entityId],
    );
    await waitFor(() => vacuum(api.admin, 'audit_log'), { timeoutMs: 20_000 });
  });

  it.each([
    '',
    'page=500&size=100',
    'operation=proxy.invoke&page=200&size=100',
    'entity_type=nothing',
    `entity_id=${entityId}`,
    `start_date=${new Date(Date.now() - 3_600_000).toISOString()}&operation=token.read`,
    'operation=reactor.delete',
    'trace_id=trace-20000',
    'trace_id=nothing',
    'entity_type=reactor',
  ])(
    'reads the lines before the end of the page and 10,001 to count them, for the query %j',
    async (search) => {
      const { tenant_id: tenantId } = api.tenant;
      const query = readLogQuery(new URLSearchParams(search));
      await inTenant(api.ctx.dataSource, tenantId, async (manager) => {
        const sql = countingSql(asSql(manager));
        await findLines(sql, tenantId, query);
        expect(sql.rowsRead.length).toBeGreaterThan(0);
        const most = Math.max(10_001, query.page * query.size + 1);
        for (const rows of sql.rowsRead) expect(rows).toBeLessThanOrEqual(most);
      });
    },
  );

  it('reads 50,000 lines before a page at most, and once for all pages behind them', async () => {
    const { tenant_id: tenantId } = api.foreign;
    await inTenant(api.ctx.dataSource, tenantId, async (manager) => {
      const pageOf = async (place: string) => {
        const sql = countingSql(asSql(manager));
        const query = readLogQuery(new URLSearchParams(`${place}&size=100`));
        return { ...(await findLines(sql, tenantId, query)), rowsRead: sql.rowsRead };
      };
      const first = await pageOf('page=3300');
      expect(first.entries).toHaveLength(100);
      const next = await pageOf('page=3301');
      const byCursor = await pageOf(`after=${first.pagination.after}`);
      expect(next.entries).toEqual(byCursor.entries);
      for (const rows of [...first.rowsRead, ...next.rowsRead]) {
        expect(rows).toBeLessThanOrEqual(50_000);
      }
      expect(next.rowsRead).toHaveLength(2);
    });
  });

  it('is estimated above 10,000 lines, and each page but the last tells of another', async () => {
    const { pagination } = (await api.get('/logs?page=3')).body as { pagination: Pagination };
    expect(pagination).toMatchObject({ total_items_is_estimate: true, page_number: 3 });
    expect(pagination.total_items).toBeGreaterThan(40_000);
    expect(pagination.total_items).toBeLessThan(60_000);
    const few = (await api.get('/logs?operation=reactor.delete')).body as {
      pagination: Pagination;
    };
    expect(few.pagination).toEqual({
      total_items: 5,
      page_number: 1,
      page_size: 20,
      total_pages: 1,
    });
  });

  it('has the lines of a page found by their keys in an index', async () => {
    const { tenant_id: tenantId } = api.tenant;
    const query = readLogQuery(new URLSearchParams('page=7&size=100'));
    await inTenant(api.ctx.dataSource, tenantId, async (manager) => {
      const sql = asSql(manager);
      const { entries } = await findLines(sql, tenantId, query);
      const values = [entries.map(({ id }) => id), tenantId, entries.map(({ at }) => at)];
      const kinds = await scansOf(sql, 'audit_log', linesByKey, values);
      expect(kinds.length).toBeGreaterThan(0);
      for (const kind of kinds) expect(kind).toMatch(/Index|Bitmap/);
    });
  });
});
