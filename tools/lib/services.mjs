import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkAdminUrl, createDatabase } from './database.mjs';
import { startPostgres } from './postgres.mjs';
import { step } from './progress.mjs';
import { reachableFolder } from './reachable.mjs';
import { checkRedisUrl, startRedis } from './redis.mjs';

/**
 * Postgres and Redis: those that DATABASE_URL and REDIS_URL name, else embedded ones with their data
 * below `folder`. `started` is told of each process at once, so that an interruption finds it.
 */
export async function startServices({ folder, secrets, env, durable, started }) {
  const place = reachableFolder(folder);
  const logs = join(folder, 'logs');
  mkdirSync(logs, { recursive: true, mode: 0o700 });

  const embedded = async (start, name, password, port) => {
    const logFile = join(logs, `${name}.log`);
    const server = await start({ folder: place, password, logFile, durable, port: Number(port) });
    started(server.service);
    await server.ready();
    return server;
  };

  const postgres = async () => {
    if (env.DATABASE_URL) {
      await checkAdminUrl(env.DATABASE_URL);
      return { url: env.DATABASE_URL, from: 'DATABASE_URL' };
    }
    const password = secrets.postgresPassword;
    const server = await embedded(startPostgres, 'postgres', password, env.POSTGRES_PORT);
    return { url: await createDatabase(server.url, 'glovebox'), from: server.from };
  };

  const redis = async () => {
    if (env.REDIS_URL) {
      await checkRedisUrl(env.REDIS_URL);
      return { url: env.REDIS_URL, from: 'REDIS_URL' };
    }
    return embedded(startRedis, 'redis', secrets.redisPassword, env.REDIS_PORT);
  };

  const [database, cache] = await settleAll([named('postgres', postgres), named('redis', redis)]);
  return { databaseUrl: database.url, redisUrl: cache.url };
}

async function named(name, start) {
  let result;
  await step(name, async () => {
    result = await start();
    return result.from;
  });
  return result;
}

/** Like Promise.all, but lets every part end before it fails: none goes on unseen. */
export async function settleAll(promises) {
  const results = await Promise.allSettled(promises);
  const failed = results.find(({ status }) => status === 'rejected');
  if (failed) throw failed.reason;
  return results.map(({ value }) => value);
}
