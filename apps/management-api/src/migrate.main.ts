import { loadMigrationConfig } from './config';
import { createMigrationSource } from './database/data-source';
import { migrate } from './database/migrate';
import { runCommand } from './run-command';

void runCommand(async () => {
  const source = createMigrationSource(loadMigrationConfig(process.env).DATABASE_URL.reveal());
  await source.initialize();
  try {
    return await migrate(source, process.argv[2] ?? 'up');
  } finally {
    await source.destroy();
  }
});
