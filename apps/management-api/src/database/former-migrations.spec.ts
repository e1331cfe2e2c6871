import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Client } from 'pg';
import type { DataSource } from 'typeorm';
import { createEmptyDatabase, waitFor, type TestDatabase } from '@glovebox/testing';
import { CreateSchema0000000000001 } from '../migrations/0001-create-schema';
import { createMigrationSource } from './data-source';
import { formerMigrations } from './former-migrations';
import { migrate } from './migrate';
import { schemaText } from './spec-schema';

const fixture = (name: string): Buffer => readFileSync(join(__dirname, '__fixtures__', name));
/** The schema after the former migrations, read by `schemaText` at commit 9128e1a. */
const formerSchema = fixture('schema-of-9128e1a.txt').toString();
const commit = '9128e1acf479dd16202ff9a4a676e96784c23f00';
const newName = 'CreateSchema0000000000001';

let database: TestDatabase;
let source: DataSource;

beforeEach(async () => {
  database = await createEmptyDatabase();
  source = await connect();
});
afterEach(async () => {
  await source.destroy();
  await database.drop();
});

/** Later migrations change the schema that is compared here. */
async function connect(): Promise<DataSource> {
  const connected = createMigrationSource(database.ownerUrl);
  connected.setOptions({ migrations: [CreateSchema0000000000001] });
  return connected.initialize();
}

async function asAdmin(statement: string): Promise<void> {
  const client = new Client({ connectionString: database.adminUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

const names = async (): Promise<string[]> =>
  (await source.query<{ name: string }[]>('SELECT name FROM migrations ORDER BY id')).map(
    ({ name }) => name,
  );

/** Makes the schema, and records that these migrations made it. */
async function madeBy(recorded: readonly string[]): Promise<void> {
  await migrate(source, 'up');
  await source.query(`INSERT INTO tenants (id, name, settings, webhook_secrets, created_at)
    VALUES (gen_random_uuid(), 'Kept', '{}', '', now())`);
  await source.query('DELETE FROM migrations');
  await source.query(
    'INSERT INTO migrations (timestamp, name) SELECT right(name, 13)::bigint, name FROM unnest($1::text[]) name',
    [recorded],
  );
}

/** From now on, every statement that changes the schema fails. */
const keepSchema = (): Promise<void> =>
  asAdmin(`
    CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE 'The schema was changed by %', tg_tag; END $$;
    CREATE EVENT TRIGGER keep_schema ON ddl_command_start EXECUTE FUNCTION refuse()`);

it('the first migration makes the schema that the former ones made', async () => {
  await migrate(source, 'up');
  expect(await schemaText(source)).toBe(formerSchema);
  expect(await source.query('SELECT singleton, version FROM definition_head')).toEqual([
    { singleton: true, version: '0' },
  ]);
  expect(await source.query('SELECT * FROM sealing_version')).toEqual([]);
});

describe('a database that recorded all former migrations', () => {
  beforeEach(() => madeBy(formerMigrations));

  it('is only marked, and only once', async () => {
    await keepSchema();
    expect(await migrate(source, 'status')).toBe(
      `pending ${newName}\n28 former migrations are done: up replaces them.`,
    );
    await expect(migrate(source, 'down')).rejects.toThrow('Run up first');
    expect(await migrate(source, 'up')).toBe('The schema is up to date.');
    expect(await names()).toEqual([newName]);
    expect(await migrate(source, 'up')).toBe('The schema is up to date.');
    expect(await migrate(source, 'status')).toBe(`done    ${newName}`);
    expect(await source.query('SELECT name FROM tenants')).toEqual([{ name: 'Kept' }]);
  });

  it('is marked by one of two that migrate at the same time', async () => {
    await keepSchema();
    const second = await connect();
    const holder = new Client({ connectionString: database.ownerUrl });
    await holder.connect();
    // Both have looked at the names, and wait.
    await holder.query('BEGIN; LOCK TABLE migrations IN EXCLUSIVE MODE');
    const both = [source, second].map((each) => migrate(each, 'up'));
    await waitFor(async () => {
      const { rowCount } = await holder.query(
        `SELECT FROM pg_locks WHERE relation = 'migrations'::regclass AND NOT granted`,
      );
      return rowCount === 2;
    });
    await holder.query('COMMIT');
    await holder.end();
    expect(await Promise.all(both)).toEqual(Array(2).fill('The schema is up to date.'));
    await second.destroy();
    expect(await names()).toEqual([newName]);
  });

  it('and a newer one is left to the newer release', async () => {
    const newer = [...formerMigrations, 'AddMoons0000000000043'];
    await source.query(
      `INSERT INTO migrations (timestamp, name) VALUES (43, 'AddMoons0000000000043')`,
    );
    for (const direction of ['up', 'down', 'status']) {
      await expect(migrate(source, direction)).rejects.toThrow(
        'does not know (AddMoons0000000000043)',
      );
    }
    expect(await names()).toEqual(newer);
  });
});

it.each([
  ['but the last', formerMigrations.slice(0, -1), 27],
  ['but the first', formerMigrations.slice(1), 27],
  ['up to a commit before 60233aa', formerMigrations.slice(0, 20), 20],
  ['but some of those after 60233aa', formerMigrations.slice(0, 25), 25],
  ['as many as 60233aa had, but others', formerMigrations.slice(1, 25), 24],
])('a database that recorded all former migrations %s is not changed', async (_, done, count) => {
  await madeBy(done);
  await keepSchema();
  for (const direction of ['up', 'down', 'status']) {
    const refusal = await migrate(source, direction).catch((error: Error) => error.message);
    expect(refusal).toContain(`Nothing was changed: this database has ${count} of the 28`);
    for (const command of [`git checkout ${commit}`, 'npm ci', 'npm run db:migrate -- up']) {
      expect(refusal).toContain(`\n  ${command}`);
    }
  }
  expect(await names()).toEqual(done);
});

it('a database with a migration of a newer release is not changed', async () => {
  await madeBy([newName, 'AddMoons0000000000002']);
  await keepSchema();
  for (const direction of ['up', 'down', 'status']) {
    await expect(migrate(source, direction)).rejects.toThrow(
      'A newer release made them. Use that release, or take them back with it first',
    );
  }
});

describe('a database that was made at commit 60233aa', () => {
  const counts = `SELECT
    (SELECT array_agg(container || ' ' || type || ' ' || count ORDER BY container, type)
     FROM token_counts) AS tokens,
    (SELECT count(*)::int FROM token_terms x JOIN tokens t
     ON t.tenant_id = x.tenant_id AND t.id = x.token_id AND t.created_at = x.created_at
       AND t.container = x.container AND t.type = x.type
       AND t.expires_at IS NOT DISTINCT FROM x.expires_at) AS filled,
    (SELECT count(*)::int FROM token_terms) AS terms`;

  beforeEach(() => asAdmin(gunzipSync(fixture('made-at-60233aa.sql.gz')).toString()));

  it('gets the same schema, and its rows are counted and filled in', async () => {
    expect(await names()).toEqual(formerMigrations.slice(0, 24));
    expect(await migrate(source, 'up')).toBe('The schema is up to date.');
    expect(await names()).toEqual([newName]);
    expect(await schemaText(source)).toBe(formerSchema);
    expect(await source.query(counts)).toEqual([
      {
        tokens: [
          '/general/high/ token 1',
          '/general/high/ token 1',
          '/pci/high/ card 1',
          '/pii/high/ token 1',
        ],
        filled: 3,
        terms: 3,
      },
    ]);
    expect(await source.query('SELECT 1 FROM pg_index WHERE NOT indisvalid')).toEqual([]);
  });

  it('shows no stored answer again of which nobody knows what tokens it shows', async () => {
    await migrate(source, 'up');
    expect(
      await source.query('SELECT status, response, sights, outcome FROM idempotency_keys'),
    ).toEqual([{ status: 201, response: null, sights: [], outcome: 'completed' }]);
  });

  it('is not changed while an app holds its tables for long', async () => {
    const app = new Client({ connectionString: database.dataUrl });
    await app.connect();
    await app.query('BEGIN; LOCK TABLE token_terms IN ROW EXCLUSIVE MODE');
    await expect(migrate(source, 'up')).rejects.toThrow('lock timeout');
    expect(await names()).toEqual(formerMigrations.slice(0, 24));
    expect(await source.query(`SELECT to_regclass('token_counts') AS found`)).toEqual([
      { found: null },
    ]);
    await app.query('ROLLBACK');
    await app.end();
    await migrate(source, 'up');
    expect(await schemaText(source)).toBe(formerSchema);
  });
});
