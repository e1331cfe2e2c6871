import { randomUUID } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { toProblem } from '@glovebox/problems';
import { asUnavailable } from '@glovebox/database';
import { Application } from '../entities/application.entity';
import { Proxy } from '../entities/proxy.entity';
import { ReactorFormula } from '../entities/reactor-formula.entity';
import { Reactor } from '../entities/reactor.entity';
import { DataPlane } from '../runs/spec-data-plane';
import { useTestApi } from '../spec-api';
import { createDataSource, type SharedDataSource } from './data-source';
import { asSql, eachInTenant, inTenant, statementsInTenant } from './in-tenant';
import { readRow } from './read-row';

const api = useTestApi();
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
  'reactor_runs',
  'ended_runs',
  'webhook_deliveries',
  'ended_deliveries',
];

it('a query without WHERE sees the rows of its tenant, and none outside a tenant', async () => {
  const data = new DataPlane(api.ctx, api.database.dataUrl);
  for (const { tenant_id: tenantId, management_key, private_key } of [api.tenant, api.foreign]) {
    await data.accept({ tenantId, reactorId: randomUUID(), actorId: randomUUID() });
    await data.run(tenantId);
    await data.webhook(tenantId);
    await data.webhook(tenantId, { ended: { status: 'failed' } });
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
  await data.close();
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

it('a tenant cannot write a row or a log entry of another tenant', async () => {
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
  await expect(
    inForeign(
      `INSERT INTO webhook_deliveries (id, tenant_id, run_id, webhook_id, callback_url, body, status,
         next_attempt_at, created_at)
       VALUES ($1, $2, $1, '', '', '', 'pending', now(), now())`,
    ),
  ).rejects.toMatchObject({ code: '42501' });
});

it('a tenant leaves connections to others, and is refused with 200 waiting transactions', async () => {
  const { dataSource } = api.ctx;
  const { tenant_id: busy } = api.tenant;
  const sleep = (): Promise<unknown> =>
    inTenant(dataSource, busy, (manager) => asSql(manager).query('SELECT pg_sleep(1)'));
  const half = api.ctx.config.DATABASE_CONNECTIONS / 2;
  const all = Promise.allSettled(Array.from({ length: half + 200 }, sleep));
  expect(dataSource.shares.state).toMatchObject({ held: half, waiting: 200 });
  const [refused, answered] = await Promise.all([
    api.get('/reactors'),
    api.get('/reactors', api.foreign.management_key),
  ]);
  expect([refused.status, answered.status]).toEqual([429, 200]);
  expect(refused.body).toMatchObject({ code: 'share_exhausted' });
  await all;
});

it('asSql returns the rows of every statement in the same shape', async () => {
  const rows = await inTenant(api.ctx.dataSource, api.tenant.tenant_id, (manager) =>
    asSql(manager).query('UPDATE tenants SET name = name RETURNING id'),
  );
  expect(rows).toEqual([{ id: api.tenant.tenant_id }]);
});

it.each([Application, ReactorFormula, Reactor, Proxy])(
  'readRow reads what TypeORM reads, for the tenant alone: %p',
  async (entity) => {
    const { dataSource } = api.ctx;
    const { tenant_id: tenantId } = api.tenant;
    const known = await statementsInTenant(dataSource, tenantId, (manager) =>
      manager.findOneByOrFail(entity, { tenantId }),
    );
    const { id } = known;
    expect((await readRow(dataSource, entity, { tenantId, id }))?.row).toStrictEqual(known);
    const foreign = api.foreign.tenant_id;
    expect(await readRow(dataSource, entity, { tenantId: foreign, id })).toBeUndefined();
  },
);

describe('one connection that tenants use in turn', () => {
  let single: SharedDataSource;
  let roundTrips = 0;
  const tenants = (): string[] => [api.tenant.tenant_id, api.foreign.tenant_id];
  const own = `SELECT id AS tenant, pg_backend_pid() AS pid FROM tenants`;

  beforeEach(async () => {
    single = createDataSource({
      url: api.database.managementUrl,
      connectionsMax: 1,
      onIdleError: () => undefined,
    });
    await single.initialize();
    const master = (single.driver as PostgresDriver).master as Pool;
    const seen = new Set<PoolClient>();
    master.on('acquire', (client) => {
      if (seen.has(client)) return;
      seen.add(client);
      const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
      connection.on('readyForQuery', () => (roundTrips += 1));
    });
    await single.query('SELECT 1');
  });
  afterEach(() => single.destroy());

  it('shows each tenant its own row, whatever the others do meanwhile', async () => {
    const turns = Array.from({ length: 20 }, () => tenants()).flat();
    const read = async (tenant: string, nth: number): Promise<void> => {
      const rows =
        nth % 3 === 0
          ? await inTenant(single, tenant, (manager) => asSql(manager).query(own))
          : await eachInTenant(single, tenant).query(own);
      expect(rows).toMatchObject([{ tenant }]);
    };
    await Promise.all(turns.map(read));
    expect(await single.query(own)).toEqual([]);
  });

  it('takes one round trip to read a row, and two more for a transaction', async () => {
    const [tenantId = ''] = tenants();
    const tripsOf = async (work: () => Promise<unknown>): Promise<number> => {
      const before = roundTrips;
      await work();
      return roundTrips - before;
    };
    const id = randomUUID();
    expect(await tripsOf(() => readRow(single, Proxy, { tenantId, id }))).toBe(1);
    const three = (): Promise<unknown> =>
      inTenant(single, tenantId, async (manager) => {
        for (let nth = 0; nth < 3; nth += 1) await asSql(manager).query(own);
      });
    expect(await tripsOf(three)).toBe(3 + 2);
  });

  it('still serves after a failed statement, alone or in a transaction', async () => {
    const [tenant = '', other = ''] = tenants();
    const [{ pid } = { pid: 0 }] = await eachInTenant(single, tenant).query<{ pid: number }>(own);
    const failing = 'SELECT 1 / count(*) FROM tenants WHERE name IS NULL';
    const works = [
      () => eachInTenant(single, tenant).query(failing),
      () => inTenant(single, tenant, (manager) => asSql(manager).query(failing)),
    ];
    for (const work of works) {
      await expect(work()).rejects.toMatchObject({ driverError: { code: '22012' } });
      expect(await eachInTenant(single, other).query(own)).toEqual([{ tenant: other, pid }]);
      expect(await single.query(own)).toEqual([]);
    }
  });

  it('is replaced when it breaks: the call gets 503, and the next tenant sees its own row', async () => {
    const [tenant = '', other = ''] = tenants();
    const ending = 'SELECT pg_terminate_backend(pg_backend_pid())';
    const works = [
      () => eachInTenant(single, tenant).query(ending),
      () => inTenant(single, tenant, (manager) => asSql(manager).query(ending)),
    ];
    for (const work of works) {
      const failure: unknown = await work().catch(asUnavailable);
      expect(toProblem(failure)).toMatchObject({ status: 503, code: 'service_unavailable' });
      expect(await eachInTenant(single, other).query(own)).toMatchObject([{ tenant: other }]);
    }
  });
});
