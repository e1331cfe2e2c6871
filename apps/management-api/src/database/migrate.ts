import type { DataSource } from 'typeorm';

/** Updates the schema, reverts the last migration, or lists which migrations are done. */
export async function migrate(source: DataSource, direction: string): Promise<string> {
  switch (direction) {
    case 'up': {
      // One transaction per migration, because indexes of large tables are built outside
      // transactions.
      const done = await source.runMigrations({ transaction: 'each' });
      return done.map(({ name }) => `up ${name}`).join('\n') || 'The schema is up to date.';
    }
    case 'down':
      await source.undoLastMigration({ transaction: 'each' });
      return status(source);
    case 'status':
      return status(source);
    default:
      throw new Error(`"${direction}" is none of up, down, status.`);
  }
}

async function status(source: DataSource): Promise<string> {
  const done = new Set((await executed(source)).map(({ name }) => name));
  const names = source.migrations.map((migration) => migration.constructor.name);
  return names.map((name) => `${done.has(name) ? 'done   ' : 'pending'} ${name}`).join('\n');
}

async function executed(source: DataSource): Promise<{ name: string }[]> {
  const [table] = await source.query<{ known: boolean }[]>(
    `SELECT to_regclass('migrations') IS NOT NULL AS known`,
  );
  return table?.known ? source.query<{ name: string }[]>('SELECT name FROM migrations') : [];
}
