import { Redis, type RedisOptions } from 'ioredis';
import { trustFault } from './store-not-trusted';
import { parseStoreUrl, withoutLogin } from './store-url';

/** `onError` gets what breaks the connection or keeps it from being made. */
export function connectRedis(
  text: string,
  options: RedisOptions,
  onError: (error: unknown) => void,
): Redis {
  const { url, tls } = parseStoreUrl(text);
  const redis = new Redis(url, { ...options, ...(tls ? { tls } : {}) });
  redis.on('error', (error) =>
    onError(trustFault(`Redis at ${withoutLogin(url)}`, error) ?? error),
  );
  return redis;
}
