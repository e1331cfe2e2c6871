// npm run after-restore [-- OPTIONS]
import { afterRestore } from './lib/database.mjs';
import { devStores } from './lib/dev-database.mjs';
import { script } from './lib/progress.mjs';

const help = `
npm run after-restore [-- OPTIONS]

Accepts the database of npm start (or of DATABASE_URL and REDIS_URL) after it was restored or promoted. Before
that, nothing is served from it. docs/backup.md.

  (nothing)            begins a new epoch: every process and Redis forget what they know, apps become ready,
                       and what waits or was claimed is held: runs and webhooks
  --status             shows why nothing is served, what has changed, and what is held; changes nothing
  --promoted           accepts a standby that lost nothing: holds nothing
  --force              does it although nothing speaks against the database
  --release            makes held runs and webhooks due
  --fail               ends them: nothing is run, nothing is sent
    --tenant ID        only those of a tenant
    --older-than AGE   only those of runs that were accepted longer ago: 90s, 30m, 6h, 2d
  --end-keys --tenant ID   ends every API key of the tenant; npm run tenant:key makes a new one
  --json               prints JSON`;

await script(help, async (args) => {
  const { urls, redisUrl, keyRing } = await devStores(process.env);
  const output = await afterRestore(args, { databaseUrl: urls.owner, redisUrl, keyRing });
  console.log(output.trim());
});
