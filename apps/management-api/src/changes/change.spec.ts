import { randomUUID } from 'node:crypto';
import { listLog } from '@glovebox/definitions';
import { change } from './change';
import { asSql, inTenant } from '../database/in-tenant';
import { createTenant } from '../tenants/create-tenant';
import { useTestApi } from '../spec-api';

const api = useTestApi();

const formula = { name: 'F', code: 'module.exports = () => ({})' };
const proxy = { name: 'P', destination_url: 'https://example.com' };

it('50 concurrent creates all succeed and leave no gap in the log', async () => {
  const before = await head();
  const create = async () => {
    for (;;) {
      const answer = await api.post('/proxies', { ...proxy, configuration: { a: 'b' } });
      // On a busy machine one may wait too long for its share.
      if (answer.status !== 429) return answer;
    }
  };
  const answers = await Promise.all(Array.from({ length: 50 }, create));
  expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(201));
  const log = await inTenant(api.ctx.dataSource, api.tenant.tenant_id, (manager) =>
    listLog(asSql(manager), before, 500),
  );
  expect(log.entries.map(({ version }) => version)).toEqual(
    Array.from({ length: 50 }, (_, index) => before + 1 + index),
  );
});

it('no pool waits for another when more tenants than connections lack a data key', async () => {
  const tenants = 2 * api.ctx.config.DATABASE_CONNECTIONS;
  const made = await Promise.all(
    Array.from({ length: tenants }, () => createTenant(api.ctx, { name: 'New', demo: true })),
  );
  const answers = await Promise.all(
    made.map(({ private_key }) => api.post('/tokens', { data: 'x' }, private_key)),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(tenants).fill(201));
});

it('the follower knows a change that was acknowledged', async () => {
  const { id } = (await api.post('/proxies', proxy)).body as { id: string };
  const snapshot = api.ctx.definitions.follower.fresh();
  expect(snapshot?.find('proxy', api.tenant.tenant_id, id)).toBeDefined();
});

it('a change writes an audit line with author and trace id, without values', async () => {
  const created = await api
    .post('/proxies', { ...proxy, configuration: { SECRET: 'canary-value' } })
    .set('SVC-TRACE-ID', 'trace-1');
  const { id, created_by: actor } = created.body as { id: string; created_by: string };
  const lines = await api.admin.query('SELECT * FROM audit_log WHERE trace_id = $1', ['trace-1']);
  expect(lines).toEqual([
    expect.objectContaining({
      tenant_id: api.tenant.tenant_id,
      actor_id: actor,
      operation: 'proxy.create',
      entity_type: 'proxy',
      entity_id: id,
      outcome: 'success',
    }),
  ]);
});

it('a broken transaction leaves no row, no audit line and no log entry', async () => {
  const before = await head();
  const author = {
    tenantId: api.tenant.tenant_id,
    actorId: null,
    traceId: 'broken',
    claim: undefined,
  };
  const broken = change(api.ctx, author, 'create', async (manager) => {
    const id = randomUUID();
    await manager.query(
      `INSERT INTO tokens (tenant_id, id, type, container, data, created_at)
       VALUES ($1, $2, 'token', '/', '', now())`,
      [author.tenantId, id],
    );
    const [backend] = await asSql(manager).query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await api.admin.query('SELECT pg_terminate_backend($1)', [backend?.pid]);
    return { result: id, definitions: [] };
  });
  await expect(broken).rejects.toThrow();
  expect(await head()).toBe(before);
  expect(await api.admin.query(`SELECT 1 FROM audit_log WHERE trace_id = 'broken'`)).toEqual([]);
  expect((await api.post('/reactor-formulas', formula)).status).toBe(201);
});

it('a refused write leaves no audit line and no log entry', async () => {
  const before = await head();
  const [{ count }] = (await api.admin.query('SELECT count(*) FROM audit_log')) as [
    { count: string },
  ];
  await api.post('/proxies', { ...proxy, application: { id: randomUUID() } });
  await api.post('/reactors', { name: 'R', configuration: {}, formula: { id: randomUUID() } });
  expect(await head()).toBe(before);
  expect(await api.admin.query('SELECT count(*) FROM audit_log')).toEqual([{ count }]);
});

it('no key, configuration or token is stored in clear', async () => {
  const canary = `canary-${randomUUID()}`;
  const { key } = (await api.post('/proxies', { ...proxy, configuration: { A: canary } })).body as {
    key: string;
  };
  const application = { name: 'A', type: 'private', permissions: ['token:create'] };
  const { key: apiKey } = (await api.post('/applications', application)).body as { key: string };
  await api.post('/tokens', { data: canary }, api.tenant.private_key);
  const stored: string[] = [];
  const tables = await api.admin.query(
    `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
  );
  for (const { relname } of tables as { relname: string }[]) {
    const rows = await api.admin.query(`SELECT t::text AS row FROM "${relname}" t`);
    stored.push(...(rows as { row: string }[]).map(({ row }) => row));
  }
  expect(stored.length).toBeGreaterThan(50);
  for (const secret of [canary, key, apiKey, api.tenant.management_key]) {
    const spellings = [
      secret,
      Buffer.from(secret).toString('hex'),
      Buffer.from(secret).toString('base64').slice(0, -4),
    ];
    for (const spelling of spellings) {
      expect(stored.filter((row) => row.includes(spelling))).toEqual([]);
    }
  }
});

async function head(): Promise<number> {
  const [row] = await api.admin.query('SELECT version::int FROM definition_head');
  return (row as { version: number }).version;
}
