import type { DataSource } from 'typeorm';
import { adoptFormerSchema, historyOf, newerExpansions, recordedNames } from './former-migrations';

/** Updates the schema, reverts the last migration, or lists which migrations are done. */
export async function migrate(source: DataSource, direction: string): Promise<string> {
  switch (direction) {
    case 'up': {
      await adoptFormerSchema(source);
      // One transaction per migration, because indexes of large tables are built outside
      // transactions.
      const done = await source.runMigrations({ transaction: 'each' });
      const added = await newerExpansions(source);
      const lines = done.map(({ name }) => `up ${name}`);
      if (added.length > 0) {
        lines.push(
          `A newer release added to this schema, and this one runs on it: ${added.join(', ')}`,
        );
      }
      return lines.join('\n') || 'The schema is up to date.';
    }
    case 'down':
      if (historyOf(source, await recordedNames(source.manager)) !== 'ours') {
        throw new Error('Nothing was changed: this database has former migrations. Run up first.');
      }
      await source.undoLastMigration({ transaction: 'each' });
      return status(source);
    case 'status':
      return status(source);
    default:
      throw new Error(`"${direction}" is not one of up, down, status.`);
  }
}

async function status(source: DataSource): Promise<string> {
  const done = await recordedNames(source.manager);
  const history = historyOf(source, done);
  const names = source.migrations.map((migration) => migration.constructor.name);
  const lines = names.map((name) => `${done.includes(name) ? 'done   ' : 'pending'} ${name}`);
  if (history !== 'ours')
    lines.push(`${done.length} former migrations are done: up replaces them.`);
  return lines.join('\n');
}
