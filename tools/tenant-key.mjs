// npm run tenant:key -- --tenant ID
import { createManagementKey } from './lib/database.mjs';
import { devStores } from './lib/dev-database.mjs';
import { script, Trouble } from './lib/progress.mjs';

const help = `
npm run tenant:key -- --tenant ID

Makes one more management application of a tenant, in the database of npm start (or of DATABASE_URL and
REDIS_URL), and prints one line of JSON with its key. For a tenant whose last management key is lost. The
key is shown this once.`;

await script(help, async (args) => {
  const tenant = args[0]?.startsWith('--tenant=') ? args[0].slice(9) : args[1];
  if (!args[0]?.startsWith('--tenant') || !tenant || args.length > 2)
    throw new Trouble(help.trim());
  const { urls, redisUrl, keyRing } = await devStores(process.env);
  const made = await createManagementKey(tenant, {
    databaseUrl: urls.management,
    redisUrl,
    keyRing,
  });
  console.log(JSON.stringify(made));
});
