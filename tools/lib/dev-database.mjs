import { checkAdminUrl, createRoles, databaseUrls } from './database.mjs';
import { readDev } from './dev.mjs';
import { installDependencies } from './install.mjs';
import { Trouble } from './progress.mjs';
import { buildRoots } from './product.mjs';
import { stateFolder } from './repo.mjs';
import { keyRingForScripts, secretsOf } from './secrets.mjs';
import { buildStaleApps } from '../build.mjs';

/**
 * The database of a script: the one of DATABASE_URL (with an administrator's login, as for npm
 * start), else the one of the running product. Installs and builds what is missing.
 *
 * @param {import('./types.js').Environment} env
 */
export async function devDatabase(env) {
  await installDependencies();
  await buildStaleApps(buildRoots.filter((root) => root === 'apps/management-api'));
  const dev = readDev(stateFolder);
  const adminUrl = env.DATABASE_URL || dev?.databaseUrl;
  if (!adminUrl) {
    throw new Trouble('No database: run npm start in another terminal, or set DATABASE_URL.');
  }
  if (env.DATABASE_URL) await checkAdminUrl(adminUrl);
  const secrets = secretsOf(stateFolder);
  await createRoles(adminUrl, secrets);
  return { urls: databaseUrls(adminUrl, secrets), dev };
}

/**
 * The database, the Redis and the key ring of a script of the operator.
 *
 * @param {import('./types.js').Environment} env
 */
export async function devStores(env) {
  const { urls, dev } = await devDatabase(env);
  const redisUrl = env.REDIS_URL || dev?.redisUrl;
  if (!redisUrl)
    throw new Trouble('No Redis: run npm start in another terminal, or set REDIS_URL.');
  return { urls, redisUrl, keyRing: keyRingForScripts(env, dev, stateFolder), dev };
}
