import { fault, ok, unknown, type Finding } from '@glovebox/service-host';
import { createDataSource } from './data-source';

/**
 * Compares the columns of the tables with those that the entities name. Every role may look at the
 * catalogue, while the table of migrations is the owner's alone.
 */
export async function findSchema(url: string): Promise<Finding> {
  const source = createDataSource({ url, connectionsMax: 1, onIdleError: () => undefined });
  try {
    await source.initialize();
  } catch {
    return unknown('Postgres does not answer');
  }
  try {
    const there = await source.query<{ name: string }[]>(
      `SELECT c.relname || '.' || a.attname AS name FROM pg_attribute a
       JOIN pg_class c ON c.oid = a.attrelid
       WHERE c.relnamespace = current_schema()::regnamespace AND a.attnum > 0 AND NOT a.attisdropped`,
    );
    const names = new Set(there.map(({ name }) => name));
    const wanted = source.entityMetadatas.flatMap(({ tableName, columns }) =>
      columns.map(({ databaseName }) => `${tableName}.${databaseName}`),
    );
    const missing = wanted.filter((name) => !names.has(name));
    return missing.length === 0
      ? ok(`all ${wanted.length} columns of resources are there`)
      : fault(
          `${missing.length} columns are missing, such as ${missing[0]}`,
          'Migrate: npm run db:migrate -- up, in the image migrate.main.js up',
        );
  } finally {
    await source.destroy();
  }
}
