import { connectDatabase, type Database } from '@glovebox/database';
import { useTestDatabase, waitFor } from '@glovebox/testing';
import { knownMigrations } from './known-migrations';
import { SchemaWatch } from './schema-watch';

const testDatabase = useTestDatabase();
const newest = knownMigrations.at(-1) ?? '';
const said: string[] = [];
const logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (_: object, message: string) => void said.push(message),
  fatal: () => undefined,
};

let owner: Database;
let watch: SchemaWatch;

beforeAll(() => {
  owner = testDatabase.closing(connect(testDatabase.ownerUrl));
});
beforeEach(() => {
  said.length = 0;
  watch = new SchemaWatch({ sql: connect(testDatabase.dataUrl), logger, checkEveryMs: 50 });
});
afterEach(async () => {
  await watch.close();
  await owner.query('DELETE FROM done_migrations WHERE name <> ALL ($1)', [knownMigrations]);
  await record(newest, 'expand');
});

const connect = (url: string): Database =>
  connectDatabase({ url, app: 'spec', connectionsMax: 2, statementTimeoutMs: 500 });

const record = (name: string, kind: string): Promise<unknown> =>
  owner.query('INSERT INTO done_migrations VALUES ($1, $2) ON CONFLICT DO NOTHING', [name, kind]);
const forget = (name: string): Promise<unknown> =>
  owner.query('DELETE FROM done_migrations WHERE name = $1', [name]);
const becomes = (state: string): Promise<unknown> =>
  waitFor(async () => (await watch.state()) === state);

it('a process waits for a schema that lacks a migration, says which, and goes on after it', async () => {
  await forget(newest);
  const known = watch.known();
  await becomes(`behind: ${newest} is missing`);
  expect(said).toEqual([
    expect.stringMatching(`not ready: the database lacks .* from ${newest} on.*db:migrate -- up`),
  ]);
  await expect(watch.require()).rejects.toThrow(newest);
  await record(newest, 'expand');
  await known;
  await watch.require();
});

it('a process is not ready while a migration that it needs is taken back', async () => {
  await watch.known();
  await forget(newest);
  await becomes(`behind: ${newest} is missing`);
  await record(newest, 'expand');
  await becomes('up');
});

it('a process runs beside what a newer release added, and not beside what it took away', async () => {
  await record('AddMoons0000000000098', 'expand');
  await watch.known();
  expect(await watch.state()).toBe('up');
  await record('DropMoons0000000000099', 'contract');
  await becomes('ahead: DropMoons0000000000099 is unknown and no expansion');
  expect(said).toEqual([expect.stringMatching('DropMoons0000000000099.*db:migrate -- down')]);
});

it('a database from before the table of migrations is behind, and nobody is told that it lacks everything', async () => {
  await owner.query('ALTER TABLE done_migrations RENAME TO hidden');
  try {
    await expect(watch.require()).rejects.toThrow(
      'lacks RecordMigrations0000000000007, and may lack others',
    );
  } finally {
    await owner.query('ALTER TABLE hidden RENAME TO done_migrations');
  }
});

it('a role without the right to read the table of migrations is told the statement that gives it', async () => {
  await owner.query('REVOKE SELECT ON done_migrations FROM glovebox_data');
  const known = watch.known();
  await becomes('unknown: done_migrations may not be read');
  const [, grant = ''] = /"(GRANT .*?)" as glovebox_owner/.exec(said[0] ?? '') ?? [];
  await owner.query(grant);
  await known;
});

it('the last verdict stays while Postgres does not answer', async () => {
  await watch.known();
  await owner.transaction(async (sql) => {
    await sql.query('LOCK TABLE done_migrations IN ACCESS EXCLUSIVE MODE');
    const isAsking = async (): Promise<boolean> =>
      (await sql.query('SELECT FROM pg_locks WHERE NOT granted')).length > 0;
    await waitFor(isAsking);
    await waitFor(async () => !(await isAsking()));
    expect(await watch.state()).toBe('up');
  });
});
