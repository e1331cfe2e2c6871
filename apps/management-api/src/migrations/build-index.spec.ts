import { Client } from 'pg';
import type { DataSource, QueryRunner } from 'typeorm';
import { createTestDatabase, waitFor, type TestDatabase } from '@glovebox/testing';
import { createMigrationSource } from '../database/data-source';
import { buildIndex, buildLogIndex, withoutLongWaits } from './build-index';

let database: TestDatabase;
let source: DataSource;
let queryRunner: QueryRunner;

beforeAll(async () => {
  database = await createTestDatabase();
  source = await createMigrationSource(database.ownerUrl).initialize();
  queryRunner = source.createQueryRunner();
});

afterAll(async () => {
  await queryRunner.release();
  await source.destroy();
  await database.drop();
});

async function connected(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString });
  await client.connect();
  return client;
}

const invalid = (): Promise<unknown[]> =>
  source.query<unknown[]>('SELECT 1 FROM pg_index WHERE NOT indisvalid');

const addRun = `
  INSERT INTO reactor_runs (id, tenant_id, reactor_id, actor_id, status, arguments, callback_url,
    timeout_ms, trace_id, created_at)
  SELECT id, id, id, id, 'pending', '', '', 1, '', now() FROM gen_random_uuid() id`;

const addLine = `
  INSERT INTO audit_log (tenant_id, operation, entity_type, entity_id, outcome, trace_id)
  SELECT id, 'token.read', 'token', 't', 'success', '' FROM gen_random_uuid() id`;

it('a table is written while its index is built, and a failed build is repeated', async () => {
  const [reader, writer] = [await connected(database.ownerUrl), await connected(database.dataUrl)];
  const build = (): Promise<void> =>
    buildIndex(queryRunner, 'reactor_runs_of_actor', 'reactor_runs (actor_id)');
  const building = async (): Promise<number | undefined> => {
    const [found] = await source.query<{ pid: number }[]>(
      `SELECT pid FROM pg_stat_progress_create_index WHERE relid = 'reactor_runs'::regclass`,
    );
    return found?.pid;
  };
  // Holds a snapshot that the build of the index must wait for.
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await reader.query('SELECT 1 FROM tenants');
  const cancelled = build().catch(String);
  await reader.query('SELECT pg_cancel_backend($1)', [await waitFor(building)]);
  expect(await cancelled).toMatch('cancel');
  expect(await invalid()).toHaveLength(1);

  const built = build();
  await waitFor(building);
  await writer.query(`SET statement_timeout = '2s'`);
  await writer.query(addRun);
  expect(await building()).toBeDefined();
  await reader.query('COMMIT');
  await built;
  await Promise.all([reader.end(), writer.end()]);
  expect(await invalid()).toEqual([]);
});

it('a log has a new index on each of its partitions, also on those that are made later', async () => {
  await buildLogIndex(queryRunner, 'audit_log', 'audit_log_of_actor', '(tenant_id, actor_id)');
  await source.query(
    `SELECT make_partition('audit_log', '2020-01-01 00:00:00+00', '2020-02-01 00:00:00+00')`,
  );
  const [counts] = await source.query<object[]>(
    `SELECT (SELECT count(*)::int FROM pg_inherits WHERE inhparent = 'audit_log'::regclass) AS partitions,
       (SELECT count(*)::int FROM pg_inherits WHERE inhparent = 'audit_log_of_actor'::regclass) AS parts`,
  );
  expect(counts).toMatchObject({ partitions: (counts as { parts: number }).parts });
  expect(await invalid()).toEqual([]);
});

it('a log is written while a change waits for it, and the change gives up', async () => {
  const [reader, writer] = [await connected(database.ownerUrl), await connected(database.dataUrl)];
  await writer.query(`SET statement_timeout = '4s'`);
  await reader.query('BEGIN');
  await reader.query('SELECT 1 FROM audit_log');
  const change = ['ALTER TABLE audit_log ADD COLUMN moon text'];
  const refused = withoutLongWaits(queryRunner, ['audit_log'], change).catch(String);
  const written = writer.query(addLine);
  expect(await refused).toMatch('lock timeout');
  await written;
  await reader.query('COMMIT');
  await withoutLongWaits(queryRunner, ['audit_log'], change);
  expect(await queryRunner.query('SHOW lock_timeout')).toEqual([{ lock_timeout: '0' }]);
  await Promise.all([reader.end(), writer.end()]);
});

it('a log is written while a change of it waits for a vacuum', async () => {
  const [vacuum, writer] = [await connected(database.ownerUrl), await connected(database.dataUrl)];
  await vacuum.query('BEGIN');
  // What a vacuum holds as long as it works.
  await vacuum.query('LOCK TABLE audit_log IN SHARE UPDATE EXCLUSIVE MODE');
  const change = ['ALTER TABLE audit_log ADD COLUMN sun text'];
  const changed = withoutLongWaits(queryRunner, ['audit_log'], change);
  const waits = async (): Promise<boolean> =>
    (await vacuum.query('SELECT FROM pg_locks WHERE NOT granted')).rows.length > 0;
  await waitFor(waits);
  await writer.query(`SET statement_timeout = '500ms'`);
  await writer.query(addLine);
  expect(await waits()).toBe(true);
  await vacuum.query('COMMIT');
  await changed;
  await Promise.all([vacuum.end(), writer.end()]);
});
