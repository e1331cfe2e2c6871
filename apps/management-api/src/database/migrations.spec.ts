import { Client } from 'pg';
import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '@glovebox/testing';
import { knownMigrations } from '@glovebox/stores';
import { createMigrationSource, migrations } from './data-source';
import { migrate } from './migrate';
import { ensureRoles } from './roles';
import { unused, walkNewest, writeEverything } from './spec-walk';

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

it('every migration is known to the apps, and recorded for them with its kind', async () => {
  expect(migrations.map(({ name }) => name)).toEqual(knownMigrations);
  const done = await source.query<{ name: string; kind: string }[]>(
    'SELECT name, kind FROM done_migrations ORDER BY right(name, 13)',
  );
  const declared = migrations.map((Done) => ({ name: Done.name, kind: new Done().kind }));
  expect(done).toEqual(declared);
  for (const { name, kind } of declared) {
    expect([name, kind]).toEqual([name, unused[name] ? 'contract' : 'expand']);
  }
});

it('an older release leaves what a newer one added, and refuses what one took away', async () => {
  const own = await createTestDatabase();
  const older = createMigrationSource(own.ownerUrl);
  older.setOptions({ migrations: [...migrations.slice(0, -1)] });
  await older.initialize();
  const newest = knownMigrations.at(-1) ?? '';
  try {
    expect(await migrate(older, 'up')).toBe(
      `A newer release added to this schema, and this one runs on it: ${newest}`,
    );
    await expect(migrate(older, 'down')).rejects.toThrow(`does not know (${newest})`);
    await older.query(`UPDATE done_migrations SET kind = 'contract' WHERE name = $1`, [newest]);
    await expect(migrate(older, 'up')).rejects.toThrow(`does not know (${newest})`);
  } finally {
    await older.destroy();
    await own.drop();
  }
});

it('a migration gives up where a table is being read for long, and is repeated later', async () => {
  const own = await createTestDatabase();
  const migrated = createMigrationSource(own.ownerUrl);
  await migrated.initialize();
  const reader = new Client({ connectionString: own.ownerUrl });
  await reader.connect();
  for (const [table, migration] of [
    ['definition_head', 'MarkTheDatabase0000000000006'],
    ['webhook_deliveries', 'MarkTheDatabase0000000000006'],
    ['reactor_runs', 'AddReaderVersions0000000000005'],
    ['applications', 'AddAllowedOrigins0000000000004'],
    ['ended_runs', 'KeepReasonsOfRuns0000000000003'],
  ] as const) {
    const steps = knownMigrations.length - knownMigrations.indexOf(migration);
    for (let done = 0; done < steps; done += 1) await migrate(migrated, 'down');
    await reader.query('BEGIN');
    await reader.query(`SELECT 1 FROM ${table}`);
    await expect(migrate(migrated, 'up')).rejects.toThrow('lock timeout');
    await reader.query('COMMIT');
    await migrate(migrated, 'up');
  }
  await reader.end();
  await migrated.destroy();
  await own.drop();
});

describe('a migration that is walked beside the code before it', () => {
  class Newest0000000000099 implements MigrationInterface {
    static readonly statements = { up: '', down: '' };

    async up(queryRunner: QueryRunner): Promise<void> {
      await queryRunner.query(Newest0000000000099.statements.up);
    }

    async down(queryRunner: QueryRunner): Promise<void> {
      await queryRunner.query(Newest0000000000099.statements.down);
    }
  }

  const walk = async (
    migrations: readonly (new () => MigrationInterface)[],
    { from = migrations.length - 1 } = {},
  ): Promise<void> => {
    const own = await createEmptyDatabase();
    const walked = createMigrationSource(own.ownerUrl);
    try {
      walked.setOptions({ migrations: migrations.slice(0, from) });
      await walked.initialize();
      await walked.runMigrations({ transaction: 'each' });
      await walked.destroy();
      walked.setOptions({ migrations: [...migrations] });
      await walked.initialize();
      await walkNewest(walked, own);
    } finally {
      await walked.destroy();
      await own.drop();
    }
  };
  const made = (up: string, down: string): Promise<void> => {
    Object.assign(Newest0000000000099.statements, { up, down });
    return walk([...migrations, Newest0000000000099]);
  };

  it('loses no row and keeps that code at work, for each that there is', async () => {
    for (let newest = 1; newest < migrations.length; newest += 1) {
      await walk(migrations.slice(0, newest + 1));
    }
    // Each walk begins with an empty database: it grows with the square of their number.
  }, 300_000);

  it('may add a column, a table, a function', async () => {
    await made(
      `ALTER TABLE tokens ADD COLUMN moon text;
       CREATE TABLE moons (name text NOT NULL);
       GRANT INSERT ON moons TO glovebox_data`,
      'DROP TABLE moons; ALTER TABLE tokens DROP COLUMN moon',
    );
  });

  it.each([
    ['take away a column', 'ALTER TABLE tokens DROP COLUMN mask', 'loses rows|does not exist'],
    [
      'rename a column',
      'ALTER TABLE proxies RENAME COLUMN tls TO client_tls',
      'column "tls" does not exist',
    ],
    [
      'ask for a column that the code does not write',
      `ALTER TABLE tokens ADD COLUMN moon text;
       ALTER TABLE tokens ADD CHECK (moon IS NOT NULL) NOT VALID`,
      'violates check constraint',
    ],
    ['take away a table', 'DROP TABLE failing_webhook_paths', 'does not exist'],
    ['take away a right', 'REVOKE INSERT ON ended_runs FROM glovebox_data', 'permission denied'],
    [
      'take away a function',
      'DROP FUNCTION record_key_uses(text[])',
      'record_key_uses.* does not exist',
    ],
    ['delete rows', 'DELETE FROM reactor_runs', 'loses rows'],
  ])('may not %s', async (_, up, message) => {
    await expect(made(up, '')).rejects.toThrow(new RegExp(message));
  });

  it('may take away what that code no longer uses', async () => {
    Object.assign(unused, { Newest0000000000099: ['tokens.mask', 'record_key_uses(text[])'] });
    await made(
      'ALTER TABLE tokens DROP COLUMN mask; DROP FUNCTION record_key_uses(text[])',
      `ALTER TABLE tokens ADD COLUMN mask bytea;
       CREATE FUNCTION record_key_uses(text[]) RETURNS void LANGUAGE sql AS ''`,
    );
    delete unused.Newest0000000000099;
  });
});

it('the first migration goes down without tenants alone, and up again, with rows of every table', async () => {
  const own = await createEmptyDatabase();
  const first = createMigrationSource(own.ownerUrl);
  first.setOptions({ migrations: migrations.slice(0, 1) });
  await first.initialize();
  await migrate(first, 'up');
  await writeEverything(first, own);

  await expect(migrate(first, 'down')).rejects.toThrow('would delete all data of 1 tenants');
  expect(await first.query('SELECT count(*)::int AS tokens FROM tokens')).toEqual([{ tokens: 2 }]);
  await first.query('TRUNCATE tenants CASCADE');
  await migrate(first, 'down');
  expect(await tables(first)).toEqual(['migrations']);
  await migrate(first, 'up');
  await writeEverything(first, own);

  await first.destroy();
  await own.drop();
});

it('the migration that lets rows be held does not go down while there are any', async () => {
  const own = await createTestDatabase();
  const migrated = createMigrationSource(own.ownerUrl);
  await migrated.initialize();
  const later =
    knownMigrations.length - 1 - knownMigrations.indexOf('MarkTheDatabase0000000000006');
  for (let done = 0; done < later; done += 1) await migrate(migrated, 'down');
  await migrated.query(
    `INSERT INTO reactor_runs (id, tenant_id, reactor_id, actor_id, status, arguments, callback_url,
       timeout_ms, trace_id, created_at)
     SELECT id, id, id, id, 'held', '', '', 1, '', now() FROM gen_random_uuid() id`,
  );
  await expect(migrate(migrated, 'down')).rejects.toThrow('runs or webhooks are held');
  await migrated.query('DELETE FROM reactor_runs');
  await migrate(migrated, 'down');
  await migrated.destroy();
  await own.drop();
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
  'UPDATE definition_head SET holds = false',
  'SELECT end_hold()',
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

async function tables(of = source): Promise<string[]> {
  const rows = await of.query<{ name: string }[]>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

async function runAs(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
