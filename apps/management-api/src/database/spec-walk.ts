import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import type { DataSource } from 'typeorm';
import { enterTenant, type TestDatabase } from '@glovebox/testing';

/**
 * What the code before a migration no longer uses, by the name of the migration: `table.column` or
 * `function(types)`. Only this may go with it.
 */
export const unused: Record<string, readonly string[]> = {};

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
}

/** What the code before the migration writes, reads and calls as one role. */
interface Use {
  readonly url: string;
  readonly tables: ReadonlyMap<string, readonly Column[]>;
  readonly functions: readonly string[];
}

/**
 * Takes the newest migration up, down and up again beside the code before it, which goes on to
 * write and read every column and may call every function that it had. No row may be lost.
 */
export async function walkNewest(source: DataSource, database: TestDatabase): Promise<void> {
  const name = source.migrations.at(-1)?.constructor.name ?? '';
  const uses = await usesOf(source, database, new Set(unused[name]));
  const useAll = async (): Promise<void> => {
    for (const use of uses) await carryOut(use);
  };
  await useAll();
  for (const direction of ['up', 'down', 'up']) {
    const before = await rowsOf(source, uses);
    if (direction === 'up') await source.runMigrations({ transaction: 'each' });
    else await source.undoLastMigration({ transaction: 'each' });
    const after = new Set(await rowsOf(source, uses));
    const lost = before.filter((row) => !after.has(row));
    if (lost.length > 0) throw new Error(`${name} ${direction} loses rows:\n${lost.join('\n')}`);
    await useAll();
  }
}

/** Writes a row of every table as each role of the apps. */
export async function writeEverything(source: DataSource, database: TestDatabase): Promise<void> {
  for (const use of await usesOf(source, database)) await carryOut(use);
}

const usesOf = (
  source: DataSource,
  { managementUrl, dataUrl }: TestDatabase,
  given: ReadonlySet<string> = new Set(),
): Promise<Use[]> => Promise.all([managementUrl, dataUrl].map((url) => useOf(source, url, given)));

async function useOf(source: DataSource, url: string, given: ReadonlySet<string>): Promise<Use> {
  const role = new URL(url).username;
  // Tables that others refer to come first.
  const columns = await source.query<Column[]>(
    `SELECT c.relname AS table, attname AS name, format_type(atttypid, NULL) AS type
     FROM pg_class c JOIN pg_attribute ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
       AND attidentity = '' AND has_table_privilege($1, c.oid, 'INSERT')
     ORDER BY array_position('{tenants,people,applications,reactor_formulas,tokens}', relname::text),
       relname, attnum`,
    [role],
  );
  const tables = new Map<string, Column[]>();
  for (const column of columns) {
    if (given.has(`${column.table}.${column.name}`)) continue;
    tables.set(column.table, [...(tables.get(column.table) ?? []), column]);
  }
  const functions = await source.query<{ name: string }[]>(
    `SELECT oid::regprocedure::text AS name FROM pg_proc
     WHERE pronamespace = 'public'::regnamespace AND has_function_privilege($1, oid, 'EXECUTE')`,
    [role],
  );
  const called = functions.map(({ name }) => name).filter((name) => !given.has(name));
  return { url, tables, functions: called };
}

/** Writes a row into each table, all of one new tenant, and looks whether functions may be called. */
async function carryOut({ url, tables, functions }: Use): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const tenantId = randomUUID();
    await client.query('BEGIN');
    await enterTenant(client, tenantId);
    for (const [table, columns] of tables) {
      const names = columns.map(({ name }) => name).join(', ');
      const places = columns.map((_, n) => `$${n + 1}`).join(', ');
      const row = columns.map((column) => valueOf(column, tenantId));
      await client.query(`INSERT INTO ${table} (${names}) VALUES (${places})`, row);
    }
    await client.query('COMMIT');
    for (const name of functions) {
      const { rows } = await client.query<{ may: boolean }>(
        `SELECT has_function_privilege($1, 'EXECUTE') AS may`,
        [name],
      );
      if (!rows[0]?.may) throw new Error(`may no longer call ${name}`);
    }
  } finally {
    await client.end();
  }
}

let lastNumber = 1_000;

/** The same id everywhere satisfies all foreign keys. */
function valueOf({ table, name, type }: Column, id: string): unknown {
  if (name === 'status' && /^(reactor_runs|webhook_deliveries)$/.test(table)) return 'pending';
  if (type === 'uuid' || type === 'text') return id;
  if (type === 'bytea') return Buffer.from(id);
  if (type === 'jsonb') return '[]';
  if (type === 'text[]' || type === 'uuid[]') return [id];
  if (type.endsWith('[]')) return [1];
  if (type === 'boolean') return true;
  if (type.startsWith('timestamp')) return new Date();
  if (type === 'bigint') return (lastNumber += 1);
  return 1;
}

/** All rows as text, with the columns that are used. */
async function rowsOf(source: DataSource, uses: readonly Use[]): Promise<string[]> {
  const found: string[] = [];
  for (const [table, columns] of new Map(uses.flatMap(({ tables }) => [...tables]))) {
    const names = columns.map(({ name }) => name).join(', ');
    const rows = await source.query<{ row: string }[]>(
      `SELECT '${table} ' || row(${names})::text AS row FROM ${table}`,
    );
    found.push(...rows.map(({ row }) => row));
  }
  return found;
}
