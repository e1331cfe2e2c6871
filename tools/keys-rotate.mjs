// npm run keys:rotate [-- --status | --to VERSION]
import { rotateKeys } from './lib/database.mjs';
import { devStores } from './lib/dev-database.mjs';
import { script } from './lib/progress.mjs';

const help = `
npm run keys:rotate [-- --status | --to VERSION]

Rotates the master key in the database of npm start (or of DATABASE_URL and REDIS_URL): the newest key
of the key ring (KEY_RING, KEY_RING_FILE or .glovebox/key-ring) seals from now on, and what older ones
sealed is sealed anew. Every process must have been started with the new key before:
docs/operating.md, "Rotating the master key".

  --to VERSION   that key instead of the newest
  --status       says what each key still has to open, and which may be taken out; changes nothing`;

await script(help, async (args) => {
  const { urls, redisUrl, keyRing } = await devStores(process.env);
  const output = await rotateKeys(args, { databaseUrl: urls.rotation, redisUrl, keyRing });
  console.log(output.trim());
});
