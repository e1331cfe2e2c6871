// npm run after-restore [-- OPTIONS]
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterRestore } from './lib/database.mjs';
import { devStores } from './lib/dev-database.mjs';
import { script } from './lib/progress.mjs';
import { repoRoot } from './lib/repo.mjs';

const options = JSON.parse(
  readFileSync(join(repoRoot, 'apps/management-api/src/restore/options-help.json'), 'utf8'),
);
const help = `
npm run after-restore [-- OPTIONS]

Accepts the database of npm start (or of DATABASE_URL and REDIS_URL) after it was restored or promoted. Before
that, nothing is served from it. docs/backup.md.

${options.join('\n')}`;

await script(help, async (args) => {
  const { urls, redisUrl, keyRing } = await devStores(process.env);
  const output = await afterRestore(args, { databaseUrl: urls.owner, redisUrl, keyRing });
  console.log(output.trim());
});
