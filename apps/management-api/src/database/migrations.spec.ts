import { Client } from 'pg';
import type { DataSource } from 'typeorm';
import { createTestDatabase, waitFor, type TestDatabase } from '@glovebox/testing';
import { createMigrationSource } from './data-source';
import { migrate } from './migrate';
import { ensureRoles } from './roles';

let database: TestDatabase;
let source: DataSource;

beforeAll(async () => {
  database = await createTestDatabase();
  source = createMigrationSource(database.ownerUrl);
  await source.initialize();
});

afterAll(async () => {
  await source.destroy();
  await database.drop();
});

it('migrations go down to nothing and up again as the owner role', async () => {
  const pending = async (): Promise<number> =>
    (await migrate(source, 'status')).split('\n').filter((line) => line.startsWith('pending'))
      .length;
  expect(await pending()).toBe(0);
  const before = await tables();
  for (let done = 0; done < source.migrations.length; done += 1) await migrate(source, 'down');
  expect(await pending()).toBe(source.migrations.length);
  expect(await tables()).toEqual(['migrations']);
  await migrate(source, 'up');
  expect(await tables()).toEqual(before);
  expect(await migrate(source, 'up')).toBe('The schema is up to date.');
});

it('runs are accepted while their indexes are built, and a failed build is repeated', async () => {
  const named = 'ShareOutQueues0000000000026';
  await revert(named);
  const [reader, writer] = [await connected(database.ownerUrl), await connected(database.dataUrl)];
  const ended = async (): Promise<unknown> => (await reader.query('COMMIT')) && reader.end();
  // Holds a snapshot that the build of the index must wait for.
  const hold = async (): Promise<unknown> =>
    (await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ')) &&
    reader.query('SELECT 1 FROM tenants');
  const building = async (): Promise<number | undefined> => {
    const [found] = await source.query<{ pid: number }[]>(
      `SELECT pid FROM pg_stat_progress_create_index WHERE relid = 'reactor_runs'::regclass`,
    );
    return found?.pid;
  };

  await hold();
  const cancelled = migrate(source, 'up').catch((error: unknown) => String(error));
  await reader.query('SELECT pg_cancel_backend($1)', [await waitFor(building)]);
  expect(await cancelled).toMatch('cancel');
  expect(await migrate(source, 'status')).toMatch(new RegExp(`pending +${named}`));

  const built = migrate(source, 'up');
  await waitFor(building);
  await writer.query(`SET statement_timeout = '2s'`);
  await writer.query(
    `INSERT INTO reactor_runs (id, tenant_id, reactor_id, actor_id, status, arguments, callback_url,
       timeout_ms, trace_id, created_at)
     SELECT id, id, id, id, 'pending', '', '', 1, '', now() FROM gen_random_uuid() id`,
  );
  expect(await building()).toBeDefined();
  await Promise.all([ended(), built, writer.query('DELETE FROM reactor_runs')]);
  await writer.end();
  const invalid = await source.query<unknown[]>('SELECT 1 FROM pg_index WHERE NOT indisvalid');
  expect(invalid).toEqual([]);
  expect(await migrate(source, 'up')).toBe('The schema is up to date.');
});

/** Goes back to the schema before this migration. */
async function revert(named: string): Promise<void> {
  const isDone = async (): Promise<boolean> =>
    new RegExp(`done +${named}`).test(await migrate(source, 'status'));
  while (await isDone()) await migrate(source, 'down');
}

it('rows of the release before stay where they are found, and lines of the audit log keep order', async () => {
  await revert('ListWaitingWork0000000000033');
  const writer = await connected(database.dataUrl);
  const addLine = (entity: string) =>
    writer.query(
      `INSERT INTO audit_log (tenant_id, operation, entity_type, entity_id, outcome, trace_id)
       SELECT id, 'token.read', 'token', $1, 'success', '' FROM gen_random_uuid() id`,
      [entity],
    );
  for (let line = 1; line <= 3; line += 1) await addLine(`before ${line}`);
  await writer.query(
    `INSERT INTO reactor_runs (id, tenant_id, reactor_id, actor_id, status, arguments, callback_url,
       timeout_ms, trace_id, created_at, result)
     SELECT id, id, id, id, 'completed', '', '', 1, '', now(), 'r' FROM gen_random_uuid() id`,
  );
  await writer.query(
    `INSERT INTO webhook_deliveries (id, tenant_id, run_id, webhook_id, callback_url, body, status,
       next_attempt_at, created_at)
     SELECT id, tenant_id, id, 'msg', '', 'b', 'pending', now(), now() FROM reactor_runs`,
  );

  await migrate(source, 'up');
  await addLine('after');
  const lines = await source.query<{ id: string; entity: string }[]>(
    'SELECT id, entity_id AS entity FROM audit_log ORDER BY at, id',
  );
  expect(lines.map(({ entity }) => entity)).toEqual(['before 1', 'before 2', 'before 3', 'after']);
  expect(lines.map(({ id }) => Number(id))).toEqual([1, 2, 3, 4]);
  expect(await source.query('SELECT status, attempt_log FROM webhook_deliveries')).toEqual([
    { status: 'pending', attempt_log: [] },
  ]);
  expect(await source.query('SELECT status, result::text FROM reactor_runs')).toEqual([
    { status: 'completed', result: '\\x72' },
  ]);
  const [{ partition }] = await source.query<[{ partition: string }]>(
    'SELECT DISTINCT tableoid::regclass::text AS partition FROM audit_log',
  );
  const unprotected = [database.managementUrl, database.dataUrl].map((url) =>
    expect(runAs(url, `SELECT 1 FROM ${partition}`)).rejects.toMatchObject({ code: '42501' }),
  );
  await Promise.all(unprotected);

  // Back again, nothing is lost.
  await revert('BoundAuditLog0000000000035');
  expect(await source.query('SELECT count(*)::int AS lines FROM audit_log')).toEqual([
    { lines: 4 },
  ]);
  await migrate(source, 'up');
  await writer.query('DELETE FROM webhook_deliveries; DELETE FROM reactor_runs');
  await writer.end();
});

it('tokens of the release before are counted, and their terms filled, while it goes on writing', async () => {
  await revert('CountTokens0000000000040');
  const writer = await connected(database.dataUrl);
  const [{ tenant }] = await source.query<[{ tenant: string }]>(
    'SELECT gen_random_uuid() AS tenant',
  );
  const store = async (id: string, container: string): Promise<void> => {
    await writer.query(
      `INSERT INTO tokens (tenant_id, id, type, container, data, created_at)
       VALUES ($1, $2, 'token', $3, '', now())`,
      [tenant, id, container],
    );
    await writer.query(`INSERT INTO token_terms (tenant_id, term, token_id) VALUES ($1, 't', $2)`, [
      tenant,
      id,
    ]);
  };
  for (let n = 0; n < 3; n += 1) await store(`before-${n}`, '/a/');
  await migrate(source, 'up');
  await store('after', '/b/');
  await writer.query(`UPDATE tokens SET container = '/b/' WHERE id = 'before-0'`);
  const [counts] = await source.query<object[]>(
    `SELECT (SELECT sum(count)::int FROM token_counts WHERE container = '/a/') AS a,
       (SELECT sum(count)::int FROM token_counts WHERE container = '/b/') AS b,
       (SELECT count(*)::int FROM token_terms x JOIN tokens t ON t.id = x.token_id
        WHERE x.created_at = t.created_at AND x.type = t.type) AS filled`,
  );
  expect(counts).toEqual({ a: 2, b: 2, filled: 4 });
  const invalid = await source.query<unknown[]>('SELECT 1 FROM pg_index WHERE NOT indisvalid');
  expect(invalid).toEqual([]);
  await writer.query('DELETE FROM tokens');
  await writer.end();
  expect(await source.query('SELECT * FROM token_counts')).toEqual([]);
});

it('the audit log is written while it is bounded, and a log in use is not waited for', async () => {
  await revert('BoundAuditLog0000000000035');
  const [reader, writer] = [await connected(database.ownerUrl), await connected(database.dataUrl)];
  await writer.query(`SET statement_timeout = '4s'`);
  await reader.query('BEGIN');
  await reader.query('SELECT 1 FROM audit_log');
  const refused = migrate(source, 'up').catch((error: unknown) => String(error));
  const written = writer.query(
    `INSERT INTO audit_log (tenant_id, operation, entity_type, entity_id, outcome, trace_id)
     SELECT id, 'token.read', 'token', 't', 'success', '' FROM gen_random_uuid() id`,
  );
  expect(await refused).toMatch('lock timeout');
  await written;
  await reader.query('COMMIT');
  await migrate(source, 'up');
  await Promise.all([reader.end(), writer.end()]);
  expect(await migrate(source, 'up')).toBe('The schema is up to date.');
});

it('entities and tables agree: TypeORM finds nothing to change', async () => {
  const { upQueries } = await source.driver.createSchemaBuilder().log();
  expect(upQueries.map(({ query }) => query)).toEqual([]);
});

it('an unknown direction of migration is refused', async () => {
  await expect(migrate(source, 'sideways')).rejects.toThrow('not one of up, down, status');
});

it('every table with a tenant is protected from all roles but the owner', async () => {
  const unprotected = await source.query<{ name: string }[]>(
    `SELECT DISTINCT c.table_name AS name FROM information_schema.columns c
     JOIN pg_class t ON t.relname = c.table_name AND t.relnamespace = 'public'::regnamespace
     WHERE (c.column_name = 'tenant_id' OR c.table_name = 'tenants') AND NOT t.relrowsecurity`,
  );
  expect(unprotected).toEqual([]);
});

it('the roles of the apps are neither superuser nor owner nor member of the owner', async () => {
  const roles = await source.query<object[]>(
    `SELECT rolname, rolsuper, rolcreaterole, rolcreatedb, rolbypassrls,
       (SELECT count(*)::int FROM pg_class WHERE relowner = r.oid) AS owned,
       pg_has_role(r.oid, 'glovebox_owner', 'member') AS owner
     FROM pg_roles r WHERE rolname IN ('glovebox_management', 'glovebox_data', 'glovebox_rotation') ORDER BY rolname`,
  );
  const powerless = {
    rolsuper: false,
    rolcreaterole: false,
    rolcreatedb: false,
    rolbypassrls: false,
    owned: 0,
    owner: false,
  };
  expect(roles).toEqual([
    { rolname: 'glovebox_data', ...powerless },
    { rolname: 'glovebox_management', ...powerless },
    { rolname: 'glovebox_rotation', ...powerless },
  ]);
});

it.each([
  'SELECT 1 FROM applications',
  'SELECT 1 FROM proxies',
  'SELECT 1 FROM tenants',
  'SELECT 1 FROM audit_log',
  'DELETE FROM audit_log',
  'UPDATE definition_head SET version = 0',
  'INSERT INTO definition_log VALUES (1, NULL, NULL, NULL, NULL)',
  'DELETE FROM data_keys',
  'SELECT raise_sealing_version(9)',
  'UPDATE token_counts SET count = 0',
  "SELECT add_to_token_count(gen_random_uuid(), '/', 'token', 1)",
  'CREATE TABLE mine ()',
])('the data plane may not run %s', async (statement) => {
  await expect(runAs(database.dataUrl, statement)).rejects.toMatchObject({ code: '42501' });
});

it.each([
  'DELETE FROM audit_log',
  'UPDATE audit_log SET outcome = outcome',
  'DELETE FROM definition_log',
  'UPDATE definition_head SET epoch = gen_random_uuid()',
  'UPDATE data_keys SET wrapped = wrapped',
  'SELECT raise_sealing_version(9)',
  'CREATE TABLE mine ()',
])('the management API may not run %s', async (statement) => {
  await expect(runAs(database.managementUrl, statement)).rejects.toMatchObject({ code: '42501' });
});

it.each([
  'SELECT 1 FROM tokens',
  'SELECT 1 FROM proxies',
  'SELECT 1 FROM audit_log',
  'DELETE FROM data_keys',
  'INSERT INTO definition_log VALUES (1, NULL, NULL, NULL, NULL)',
  'UPDATE data_keys SET tenant_id = tenant_id',
  'UPDATE sealing_version SET version = 1',
  'CREATE TABLE mine ()',
])('the rotation of keys may not run %s', async (statement) => {
  await expect(runAs(database.rotationUrl, statement)).rejects.toMatchObject({ code: '42501' });
});

it.each([
  'delete_expired_tokens(1)',
  'delete_remains_of_tenants(1)',
  'delete_old_idempotency_keys(1)',
  'erase_ended_bodies(1)',
  'delete_logs_of_tenants(1)',
])('the data plane may clear away what nobody needs any more: %s', (deletion) =>
  runAs(database.dataUrl, `SELECT ${deletion}`),
);

it.each([
  'delete_expired_tokens(1)',
  'delete_remains_of_tenants(1)',
  'delete_old_idempotency_keys()',
])(
  'the management API of the release before may still clear away beside the workers: %s',
  (deletion) => runAs(database.managementUrl, `SELECT ${deletion}`),
);

it('creating the roles again changes neither the database nor their rights', async () => {
  const passwordOf = (url: string): string => new URL(url).password;
  const passwords = {
    owner: passwordOf(database.ownerUrl),
    management: passwordOf(database.managementUrl),
    data: passwordOf(database.dataUrl),
    rotation: passwordOf(database.rotationUrl),
  };
  await ensureRoles(database.adminUrl, passwords);
  await ensureRoles(database.adminUrl, passwords);
  await runAs(database.managementUrl, 'SELECT 1 FROM tenants');
});

async function tables(): Promise<string[]> {
  const rows = await source.query<{ name: string }[]>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

async function connected(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString });
  await client.connect();
  return client;
}

async function runAs(url: string, statement: string): Promise<void> {
  const client = await connected(url);
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
