// npm run tenant:create -- --name NAME [--demo]
import { createTenant } from './lib/database.mjs';
import { devStores } from './lib/dev-database.mjs';
import { script, Trouble } from './lib/progress.mjs';

const help = `
npm run tenant:create -- --name NAME [--demo]

Makes a tenant with its first management key in the database of npm start (or of DATABASE_URL and
REDIS_URL), and prints one line of JSON. The key is shown this once.

  --demo   also makes an application of type private and prints its key`;

await script(help, async (args) => {
  const { name, demo } = parse(args);
  const { urls, redisUrl, keyRing } = await devStores(process.env);
  const tenant = await createTenant(name, {
    demo,
    databaseUrl: urls.management,
    redisUrl,
    keyRing,
  });
  console.log(JSON.stringify(tenant));
});

/** @param {readonly string[]} args */
function parse(args) {
  const demo = args.includes('--demo');
  const rest = args.filter((arg) => arg !== '--demo');
  const name = rest[0]?.startsWith('--name=') ? rest[0].slice(7) : rest[1];
  if (!rest[0]?.startsWith('--name') || !name || rest.length > 2) throw new Trouble(help.trim());
  return { name, demo };
}
