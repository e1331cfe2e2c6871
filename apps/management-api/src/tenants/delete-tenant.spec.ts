import { randomUUID } from 'node:crypto';
import { connectDatabase } from '@glovebox/database';
import { connectDefinitions, listLog, type DefinitionConnection } from '@glovebox/definitions';
import { DataPlane } from '../runs/spec-data-plane';
import { useTestApi } from '../spec-api';
import { createTenant, type NewTenant } from './create-tenant';
import { deleteTenant } from './delete-tenant';

const api = useTestApi();

interface Stocked extends Required<NewTenant> {
  readonly formula: string;
  readonly reactor: string;
  readonly proxy: string;
}

/** Names the tenant, so that it is deleted. */
const self = '/tenants/self?name=Stocked';

/** Creates a tenant with one resource of each kind. */
async function stocked(): Promise<Stocked> {
  const made = await createTenant(api.ctx, { name: 'Stocked', demo: true });
  const tenant = { ...made, private_key: made.private_key ?? '' };
  const idOf = async (path: string, body: object, key = tenant.management_key) => {
    const created = await api.post(path, body, key);
    expect([path, created.status]).toEqual([path, 201]);
    return (created.body as { id: string }).id;
  };
  const formula = await idOf('/reactor-formulas', { name: 'f', code: 'module.exports = () => 1' });
  const reactor = await idOf('/reactors', {
    name: 'r',
    configuration: {},
    formula: { id: formula },
  });
  const proxy = await idOf('/proxies', { name: 'p', destination_url: 'https://example.com' });
  await idOf('/tokens', { data: 'secret' }, tenant.private_key);
  await api
    .post('/reactor-formulas', { name: 'f', code: 'module.exports = 1' }, tenant.management_key)
    .set('SVC-IDEMPOTENCY-KEY', randomUUID());
  const runId = randomUUID();
  await api.admin.query(
    `INSERT INTO reactor_runs (id, tenant_id, reactor_id, actor_id, status, arguments, callback_url,
       timeout_ms, trace_id, created_at)
     VALUES ($1, $2, $3, $3, 'completed', '', '', 1, 't', now())`,
    [runId, tenant.tenant_id, reactor],
  );
  await api.admin.query(
    `INSERT INTO webhook_deliveries (id, tenant_id, run_id, webhook_id, callback_url, body, status,
       next_attempt_at, created_at)
     VALUES (gen_random_uuid(), $2, $1, 'w', '', '', 'delivered', now(), now())`,
    [runId, tenant.tenant_id],
  );
  const data = new DataPlane(api.ctx, api.database.dataUrl);
  await data.run(tenant.tenant_id);
  await data.webhook(tenant.tenant_id, { ended: { status: 'delivered' } });
  await data.close();
  return { ...tenant, formula, reactor, proxy };
}

const tables = [
  'applications',
  'application_keys',
  'reactor_formulas',
  'reactors',
  'proxies',
  'data_keys',
  'idempotency_keys',
  'tokens',
  'reactor_runs',
  'webhook_deliveries',
  'ended_runs',
  'ended_deliveries',
];

async function rowsOf(tenantId: string): Promise<Record<string, number>> {
  const counts = tables.map(
    (table) => `(SELECT count(*)::int FROM ${table} WHERE tenant_id = $1) AS ${table}`,
  );
  const [row] = await api.admin.query<Record<string, number>>(
    `SELECT ${counts.join()}, (SELECT count(*)::int FROM tenants WHERE id = $1) AS tenants`,
    [tenantId],
  );
  return row ?? {};
}

/** Deletes the remains as the housekeeping of a worker does. */
async function deleteRemains(): Promise<void> {
  const worker = connectDatabase({ url: api.database.dataUrl, app: 'spec', connectionsMax: 1 });
  const deletePart = () =>
    worker.query<{ deleted: string }>(
      'SELECT delete_remains_of_tenants(1000) + delete_logs_of_tenants(1000) AS deleted',
    );
  try {
    while (Number((await deletePart())[0]?.deleted) > 0);
  } finally {
    await worker.close();
  }
}

const sumOf = (counts: Record<string, number>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

/** Starts a process of the data plane. */
async function follow(): Promise<DefinitionConnection> {
  const { ring } = api.ctx;
  const connection = connectDefinitions({
    app: 'spec',
    databaseUrl: api.database.dataUrl,
    redis: { REDIS_URL: { reveal: () => api.redis.url } },
    ring,
    onFault: () => undefined,
  });
  await connection.start();
  return connection;
}

it('deleting a tenant answers 204, refuses every key from the next call on and ends its runs', async () => {
  const tenant = await stocked();
  const { tenant_id: id } = tenant;
  const dataPlane = await follow();
  try {
    const before = await dataPlane.follower.current();
    expect(before.find('proxy', id, tenant.proxy)).toBeDefined();
    const gone = await api.delete(self, tenant.management_key);
    expect([gone.status, gone.text]).toEqual([204, '']);
    const own = dataPlane.follower.fresh();
    expect(own).toBeDefined();
    expect(own?.find('proxy', id, tenant.proxy)).toBeUndefined();
    expect(own?.find('reactor', id, tenant.reactor)).toBeUndefined();
    expect(own?.find('formula', id, tenant.formula)).toBeUndefined();
    expect(own?.find('tenant', id, id)).toBeUndefined();
    expect(own?.principalByKeyHash(api.ctx.keyHash(tenant.private_key))).toBeUndefined();
  } finally {
    await dataPlane.close();
  }
  for (const key of [tenant.management_key, tenant.private_key]) {
    expect((await api.get('/applications/key', key)).status).toBe(401);
  }
  expect((await api.delete(self, tenant.management_key)).status).toBe(401);
});

it('deleting a tenant leaves only its audit log, and other tenants unchanged', async () => {
  const [tenant, neighbour] = [await stocked(), await stocked()];
  const before = await rowsOf(neighbour.tenant_id);
  expect(Object.values(await rowsOf(tenant.tenant_id)).every((count) => count > 0)).toBe(true);
  expect((await api.delete(self, tenant.management_key)).status).toBe(204);
  await deleteRemains();
  expect(sumOf(await rowsOf(tenant.tenant_id))).toBe(0);
  expect(await rowsOf(neighbour.tenant_id)).toEqual(before);
  expect((await api.get('/applications/key', neighbour.private_key)).status).toBe(200);
  const lines = await api.admin.query<{ operation: string }>(
    'SELECT operation FROM audit_log WHERE tenant_id = $1 ORDER BY id',
    [tenant.tenant_id],
  );
  expect(lines.map(({ operation }) => operation)).toContain('token.create');
  expect(lines.at(-1)?.operation).toBe('tenant.delete');
});

it('the sealed data of a deleted tenant is unreadable at once, since its data keys are gone', async () => {
  const { tenant_id: id, management_key: key } = await stocked();
  const [sealed] = await api.admin.query<{ data: Buffer }>(
    'SELECT data FROM tokens WHERE tenant_id = $1',
    [id],
  );
  const keyId = sealed?.data.subarray(1, 17).toString('hex');
  expect((await api.delete(self, key)).status).toBe(204);
  const { tokens, data_keys: dataKeys, tenants } = await rowsOf(id);
  expect([tokens, dataKeys, tenants]).toEqual([1, 0, 0]);
  const left = await api.admin.query(
    `SELECT 1 FROM data_keys WHERE replace(id::text, '-', '') = $1`,
    [keyId],
  );
  expect(left).toEqual([]);
  await deleteRemains();
  expect(sumOf(await rowsOf(id))).toBe(0);
});

it('the rows that a call under way leaves behind a deleted tenant are deleted as well', async () => {
  const { tenant_id: id, management_key: key } = await stocked();
  await api.delete(self, key);
  await deleteRemains();
  expect(sumOf(await rowsOf(id))).toBe(0);
  await api.admin.query(
    `INSERT INTO tokens (tenant_id, id, type, container, data, created_at)
     SELECT $1, 'late ' || n, 'token', '/', '', now() FROM generate_series(1, 12000) n`,
    [id],
  );
  await api.ctx.sealer.seal({ table: 't', column: 'c', tenantId: id, record: 'r' }, 'late');
  await deleteRemains();
  expect(sumOf(await rowsOf(id))).toBe(0);
});

it('changes during a deletion are whole or refused, and the tenant’s log ends empty', async () => {
  for (let round = 0; round < 10; round += 1) {
    const tenant = await stocked();
    const { management_key: key, tenant_id: id } = tenant;
    const reactor = { name: 'r', configuration: {}, formula: { id: tenant.formula } };
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, () => api.post('/reactors', reactor, key)),
      api.patch(`/reactor-formulas/${tenant.formula}`, { name: 'x' }, key),
      api.post('/tenants/self/webhook-secret/rotate', '', key),
      api.put('/tenants/self', { name: 'Stocked', settings: { a: 'b' } }, key),
      api.delete(self, key),
      api.post('/reactors', reactor, key),
      api.post('/proxies', { name: 'p', destination_url: 'https://example.com' }, key),
      api.delete(self, key),
    ]);
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => ![200, 201, 204, 400, 401, 404].includes(status))).toEqual(
      [],
    );
    const deletions = [statuses[7], statuses[10]].sort();
    expect(deletions).toEqual([204, 401]);
    await deleteRemains();
    expect(sumOf(await rowsOf(id))).toBe(0);
    const live = await api.admin.query(
      'SELECT kind FROM definition_log WHERE tenant_id = $1 AND payload IS NOT NULL',
      [id],
    );
    expect(live).toEqual([]);
  }
});

it('a deletion leaves no gap in the log, and begins with what admits callers', async () => {
  const tenant = await stocked();
  const [{ version } = { version: '' }] = await api.admin.query<{ version: string }>(
    'SELECT version FROM definition_head',
  );
  await api.delete(self, tenant.management_key);
  const { entries, head } = await listLog(api.admin, Number(version), 500);
  expect(entries.map((entry) => entry.version)).toEqual(
    entries.map((_, index) => Number(version) + 1 + index),
  );
  expect(head.version).toBe(entries.at(-1)?.version);
  expect(entries.every(({ digest }) => digest === null)).toBe(true);
  const kinds = entries.map(({ kind }) => kind);
  expect(kinds).toEqual([
    'application',
    'application',
    'proxy',
    'tenant',
    'formula',
    'formula',
    'reactor',
  ]);
});

it.each<[string, string, object | undefined]>([
  ['no name', '', undefined],
  ['an empty name', '?name=', undefined],
  ['another name', '?name=stocked', undefined],
  ['another name in the body', '', { name: 'Other' }],
  ['a name that is no text', '', { name: 5 }],
  ['one name and another', '?name=Stocked', { name: 'Other' }],
  ['two names', '?name=Stocked&name=Other', undefined],
])('deleting a tenant with %s is refused with 400', async (_, query, body) => {
  const { management_key: key } = await createTenant(api.ctx, { name: 'Stocked', demo: false });
  const refused = await api.delete(`/tenants/self${query}`, key).send(body);
  expect([refused.status, Object.keys((refused.body as { errors: object }).errors)]).toEqual([
    400,
    ['name'],
  ]);
  expect((await api.get('/tenants/self', key)).status).toBe(200);
});

it.each<[string, string, object | undefined]>([
  ['the query', '?name=A%20%26%20B', undefined],
  ['the body', '', { name: 'A & B' }],
  ['both', '?name=A+%26+B', { name: 'A & B' }],
])('deleting a tenant takes its name from %s', async (_, query, body) => {
  const { management_key: key } = await createTenant(api.ctx, { name: 'A & B', demo: false });
  expect((await api.delete(`/tenants/self${query}`, key).send(body)).status).toBe(204);
});

it('a refused deletion answers 401 or 403 and deletes nothing', async () => {
  expect((await api.delete('/tenants/self', 'nobody')).status).toBe(401);
  expect((await api.delete('/tenants/self', api.tenant.private_key)).status).toBe(403);
  const other = await api.keyWith('management', ['tenant:read', 'tenant:update']);
  expect((await api.delete('/tenants/self', other)).status).toBe(403);
  expect((await api.get('/tenants/self')).status).toBe(200);
});

describe('the role of the management API', () => {
  const asTenant = async (tenantId: string, statement: string): Promise<unknown[]> => {
    const management = connectDatabase({
      url: api.database.managementUrl,
      app: 'spec',
      connectionsMax: 1,
    });
    try {
      return await management.transaction(async (sql) => {
        await sql.query(`SELECT set_config('glovebox.tenant_id', $1, true)`, [tenantId]);
        const rows = await sql.query(statement);
        throw Object.assign(new Error('rolled back'), { rows });
      });
    } catch (error) {
      return (error as { rows?: unknown[] }).rows ?? Promise.reject(error as Error);
    } finally {
      await management.close();
    }
  };

  it('can delete the data keys of its tenant alone', async () => {
    const { tenant_id: id } = api.tenant;
    const deleted = await asTenant(id, 'DELETE FROM data_keys RETURNING tenant_id');
    expect(deleted).toEqual([{ tenant_id: id }]);
    expect(await asTenant('', 'DELETE FROM data_keys RETURNING tenant_id')).toEqual([]);
  });
});

it('a tenant with 30,000 reactors is deleted within seconds, and holds the head of the log for less', async () => {
  const tenant = await stocked();
  const { tenant_id: id } = tenant;
  const count = 30_000;
  await api.admin.query(
    `INSERT INTO reactors (id, tenant_id, name, formula_id, configuration, isolation, created_at)
     SELECT gen_random_uuid(), $1, 'r ' || n, $2, '', 'warm', now()
     FROM generate_series(1, $3::int) n`,
    [id, tenant.formula, count],
  );
  await api.admin.query(
    `WITH entry AS (SELECT id, row_number() OVER () AS n FROM reactors WHERE name LIKE 'r %'),
     head AS (UPDATE definition_head SET version = version + $2::int RETURNING version)
     INSERT INTO definition_log (version, kind, id, tenant_id, payload)
     SELECT head.version - $2::int + n, 'reactor', entry.id, $1, '\\x00' FROM entry, head`,
    [id, count],
  );
  const startedAt = performance.now();
  const deleting = api.delete(self, tenant.management_key);
  let slowestMs = 0;
  let done = false;
  const neighbours = (async () => {
    while (!done) {
      const begun = performance.now();
      const created = await api.post('/proxies', {
        name: 'p',
        destination_url: 'https://a.example',
      });
      expect(created.status).toBe(201);
      slowestMs = Math.max(slowestMs, performance.now() - begun);
    }
  })();
  expect((await deleting).status).toBe(204);
  const tookMs = Math.round(performance.now() - startedAt);
  done = true;
  await neighbours;
  process.stdout.write(
    `a tenant with ${count} reactors: deleted in ${tookMs} ms, ` +
      `the slowest write beside it ${Math.round(slowestMs)} ms\n`,
  );
  expect((await api.get('/applications/key', tenant.management_key)).status).toBe(401);
  await deleteRemains();
  expect(sumOf(await rowsOf(id))).toBe(0);
});

it('a deletion that finds its tenant deleted says what became of the key', async () => {
  const { tenant_id: tenantId } = await createTenant(api.ctx, { name: 'Twice', demo: false });
  const author = { tenantId, actorId: randomUUID(), traceId: 'trace', claim: undefined };
  await deleteTenant(api.ctx, author, ['Twice']);
  await expect(deleteTenant(api.ctx, author, ['Twice'])).rejects.toMatchObject({
    code: 'invalid_api_key',
    detail: 'The application of this key was deleted during the call.',
  });
});
