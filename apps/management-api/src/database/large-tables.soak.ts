import { Client } from 'pg';
import type { DataSource } from 'typeorm';
import { createEmptyDatabase, type TestDatabase } from '@glovebox/testing';
import { shortWaits } from '../migrations/build-index';
import { createMigrationSource, migrations } from './data-source';
import { fillTables, plantedMigration, withMigrations } from './spec-locks';

const rows = 10_000_000;
const longestWaitMs = 1_000;
const large = ['tokens', 'reactor_runs', 'ended_runs', 'audit_log', 'calls'];

const bad = plantedMigration(async (queryRunner) => {
  await queryRunner.query(shortWaits('tokens'));
  await queryRunner.query(`ALTER TABLE tokens ADD CHECK (type <> '')`);
});

let database: TestDatabase;
let source: DataSource;

beforeAll(async () => {
  database = await createEmptyDatabase();
  source = createMigrationSource(database.ownerUrl);
});
afterAll(async () => {
  await source.destroy();
  await database.drop();
});

/** Fills large tables without upkeep of indexes and triggers, which change no lock of a migration. */
async function fill(): Promise<void> {
  const admin = new Client({ connectionString: database.adminUrl });
  await admin.connect();
  try {
    const { rows: found } = await admin.query<{ table: string }>(
      `SELECT relname AS table FROM pg_class
       WHERE relname = ANY ($1) AND relnamespace = 'public'::regnamespace`,
      [large],
    );
    await admin.query(
      `UPDATE pg_index SET indisready = false, indisvalid = false
       WHERE NOT indisprimary AND indrelid IN (
         SELECT relid FROM unnest($1::text[]) name, pg_partition_tree(to_regclass(name)))`,
      [large],
    );
    await Promise.all(found.map(({ table }) => fillOne(table)));
  } finally {
    await admin.end();
  }
}

async function fillOne(table: string): Promise<void> {
  const admin = new Client({ connectionString: database.adminUrl });
  await admin.connect();
  try {
    await admin.query('SET session_replication_role = replica');
    await fillTables(asSource(admin), rows, table);
  } finally {
    await admin.end();
  }
}

const asSource = (client: Client) => ({
  query: async <Row>(text: string): Promise<Row> => (await client.query(text)).rows as Row,
});

/** Takes the lock of a writer of each large table again and again. Returns the longest wait. */
async function waitOfWritersDuring(work: () => Promise<unknown>): Promise<number> {
  let [isOver, longest] = [false, 0];
  const write = async (table: string): Promise<void> => {
    const client = new Client({ connectionString: database.ownerUrl });
    await client.connect();
    while (!isOver) {
      const startedAt = performance.now();
      await client.query(`BEGIN; LOCK TABLE ${table} IN ROW EXCLUSIVE MODE; ROLLBACK`);
      longest = Math.max(longest, performance.now() - startedAt);
    }
    await client.end();
  };
  const there = await source.query<{ table: string }[]>(
    `SELECT relname AS table FROM pg_class WHERE relname = ANY ($1)`,
    [large],
  );
  const writers = there.map(({ table }) => write(table));
  await work().finally(() => (isOver = true));
  await Promise.all(writers);
  return longest;
}

it(`no migration makes a writer wait for more than a second at ${rows} rows, and a bad one does`, async () => {
  await withMigrations(source, migrations.slice(0, 1));
  await source.runMigrations({ transaction: 'each' });
  for (let count = 2; count <= migrations.length + 1; count += 1) {
    await fill();
    const isPlanted = count > migrations.length;
    await withMigrations(source, isPlanted ? [...migrations, bad] : migrations.slice(0, count));
    const name = source.migrations.at(-1)?.constructor.name ?? '';
    const waited = await waitOfWritersDuring(() => source.runMigrations({ transaction: 'each' }));
    process.stdout.write(`${name}: longest wait of a writer ${waited.toFixed(0)} ms\n`);
    if (isPlanted) expect(waited).toBeGreaterThan(longestWaitMs);
    if (!isPlanted) expect(waited).toBeLessThan(longestWaitMs);
  }
}, 900_000);
