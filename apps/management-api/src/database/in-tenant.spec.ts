import { randomUUID } from 'node:crypto';
import { asSql, inTenant } from './in-tenant';
import {
  createTestDatabase,
  startRedis,
  type PrivateRedis,
  type TestDatabase,
} from '@glovebox/testing';
import { startTestApi, type TestApi } from '../test-api';

let database: TestDatabase;
let redis: PrivateRedis;
let api: TestApi;
beforeAll(async () => {
  database = await createTestDatabase();
  redis = await startRedis();
  api = await startTestApi({ databaseUrl: database.managementUrl, redisUrl: redis.url });
});

afterAll(async () => {
  await api.close();
  await redis.stop();
  await database.drop();
});

const tables = [
  'tenants',
  'applications',
  'application_keys',
  'reactor_formulas',
  'reactors',
  'proxies',
  'tokens',
  'token_terms',
  'audit_log',
];

it('shows a query without WHERE the rows of its tenant, and outside of any tenant none', async () => {
  for (const { management_key, private_key } of [api.tenant, api.foreign]) {
    const formula = await api.post(
      '/reactor-formulas',
      { name: 'F', code: 'module.exports = () => ({})' },
      management_key,
    );
    const { id } = formula.body as { id: string };
    const made = await Promise.all([
      api.post('/reactors', { name: 'R', configuration: {}, formula: { id } }, management_key),
      api.post('/proxies', { name: 'P', destination_url: 'https://example.com' }, management_key),
      api.post('/tokens', { data: 1, metadata: { a: 'b' } }, private_key),
    ]);
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
  }
  const { dataSource } = api.ctx;
  for (const table of tables) {
    const column = table === 'tenants' ? 'id' : 'tenant_id';
    const query = `SELECT DISTINCT ${column} AS tenant FROM ${table}`;
    for (const { tenant_id: tenant } of [api.tenant, api.foreign]) {
      const seen = await inTenant(dataSource, tenant, (manager) => asSql(manager).query(query));
      expect({ table, seen }).toEqual({ table, seen: [{ tenant }] });
    }
    expect(await dataSource.query(query)).toEqual([]);
  }
});

it('takes no row for another tenant, and no entry of the log', async () => {
  const inForeign = (statement: string): Promise<unknown> =>
    inTenant(api.ctx.dataSource, api.foreign.tenant_id, (manager) =>
      asSql(manager).query(statement, [randomUUID(), api.tenant.tenant_id]),
    );
  await expect(
    inForeign(
      `INSERT INTO tokens (tenant_id, id, type, container, data, created_at)
       VALUES ($2, $1::text, 'token', '/', '', now())`,
    ),
  ).rejects.toMatchObject({ code: '42501' });
  await expect(
    inForeign(
      `INSERT INTO definition_log (version, kind, id, tenant_id) VALUES (0, 'proxy', $1, $2)`,
    ),
  ).rejects.toMatchObject({ code: '42501' });
});

it('leaves connections for other tenants, and refuses one that has 200 transactions waiting', async () => {
  const { dataSource } = api.ctx;
  const { tenant_id: busy } = api.tenant;
  const sleep = (): Promise<unknown> =>
    inTenant(dataSource, busy, (manager) => asSql(manager).query('SELECT pg_sleep(1)'));
  const all = Promise.allSettled(Array.from({ length: 210 }, sleep));
  expect(dataSource.shares.state).toMatchObject({ held: 10, waiting: 200 });
  const [refused, answered] = await Promise.all([
    api.get('/reactors'),
    api.get('/reactors', api.foreign.management_key),
  ]);
  expect([refused.status, answered.status]).toEqual([429, 200]);
  expect(refused.body).toMatchObject({ code: 'share_exhausted' });
  await all;
});

it('gives the rows of each statement in one shape', async () => {
  const rows = await inTenant(api.ctx.dataSource, api.tenant.tenant_id, (manager) =>
    asSql(manager).query('UPDATE tenants SET name = name RETURNING id'),
  );
  expect(rows).toEqual([{ id: api.tenant.tenant_id }]);
});
