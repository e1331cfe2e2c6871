import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkAdminUrl, createDatabase } from '../database.mjs';
import { startPostgres } from './postgres.mjs';
import { step, together } from '../progress.mjs';
import { reachableFolder } from './reachable.mjs';
import { checkRedisUrl, startRedis } from './redis.mjs';

/**
 * Provides Postgres and Redis: those of DATABASE_URL and REDIS_URL, else embedded ones with their
 * data below `folder`. `started` is told of each process at once, so that an interruption ends it.
 *
 * @param {{
 *   folder: string,
 *   secrets: import('../types.js').Secrets,
 *   env: import('../types.js').Environment,
 *   durable: boolean,
 *   started: (service: import('../types.js').Service) => void,
 *   signal?: AbortSignal,
 * }} options
 */
export async function startServices({ folder, secrets, env, durable, started, signal }) {
  const place = reachableFolder(folder);
  const logs = join(folder, 'logs');
  mkdirSync(logs, { recursive: true, mode: 0o700 });

  /**
   * @param {(options: import('../types.js').StoreOptions) => Promise<import('../types.js').StartedStore>} start
   * @param {string} name
   * @param {{ password: string, port: string | undefined, signal: AbortSignal }} own
   */
  const embedded = async (start, name, { password, port, signal }) => {
    const logFile = join(logs, `${name}.log`);
    const server = await start({
      folder: place,
      password,
      logFile,
      durable,
      port: Number(port ?? 0),
    });
    started(server.service);
    await server.ready(signal);
    return server;
  };

  /** @param {AbortSignal} signal */
  const postgres = async (signal) => {
    if (env.DATABASE_URL) {
      await checkAdminUrl(env.DATABASE_URL);
      return { url: env.DATABASE_URL, from: 'DATABASE_URL' };
    }
    const password = secrets.postgresPassword;
    const own = { password, port: env.POSTGRES_PORT, signal };
    const server = await embedded(startPostgres, 'postgres', own);
    return { url: await createDatabase(server.url, 'glovebox'), from: server.from };
  };

  /** @param {AbortSignal} signal */
  const redis = async (signal) => {
    if (env.REDIS_URL) {
      await checkRedisUrl(env.REDIS_URL);
      return { url: env.REDIS_URL, from: 'REDIS_URL' };
    }
    const own = { password: secrets.redisPassword, port: env.REDIS_PORT, signal };
    return embedded(startRedis, 'redis', own);
  };

  const [databaseUrl, redisUrl] = await together(
    [(signal) => named('postgres', postgres, signal), (signal) => named('redis', redis, signal)],
    signal,
  );
  return { databaseUrl, redisUrl };
}

/**
 * @param {string} name
 * @param {(signal: AbortSignal) => Promise<{ url: string, from: string }>} start
 * @param {AbortSignal} signal
 */
async function named(name, start, signal) {
  let url = '';
  const begin = async () => {
    const store = await start(signal);
    url = store.url;
    return store.from;
  };
  await step(name, begin, signal);
  return url;
}
