import { Redis, type RedisOptions } from 'ioredis';
import { trustFault } from './store-not-trusted';
import { parseStoreUrl, withoutLogin } from './store-url';

interface Secret {
  reveal(): string;
}

/** Where Redis is, as a config has it. */
export interface RedisPlace {
  /** With sentinels, its host and port are not used: login, database and TLS are. */
  readonly REDIS_URL: Secret;
  /** host:port of each. They tell which server is the primary. */
  readonly REDIS_SENTINELS?: readonly string[];
  readonly REDIS_SENTINEL_MASTER?: string;
  readonly REDIS_SENTINEL_PASSWORD?: Secret | undefined;
}

/**
 * Every client of Redis is made here. `onError` gets what breaks the connection or keeps it from
 * being made.
 */
export function connectRedis(
  place: RedisPlace,
  options: RedisOptions,
  onError: (error: unknown) => void,
): Redis {
  const { url, tls } = parseStoreUrl(place.REDIS_URL.reveal());
  const sentinels = place.REDIS_SENTINELS ?? [];
  const redis =
    sentinels.length === 0
      ? new Redis(url, { ...options, ...(tls ? { tls } : {}) })
      : new Redis({ ...options, ...watchedBy(sentinels, place) });
  const shown = sentinels.length === 0 ? withoutLogin(url) : sentinels.join(', ');
  redis.on('error', (error) => onError(trustFault(`Redis at ${shown}`, error) ?? error));
  // BullMQ makes a second client for the command that waits.
  redis.duplicate = (changes) => endTimer(Redis.prototype.duplicate.call(redis, changes));
  return endTimer(redis);
}

/**
 * ioredis keeps the timer of an unanswered command when its connection closes. The timer would keep
 * the process alive, and break the next connection when it is up.
 */
function endTimer(redis: Redis): Redis {
  return redis.on('close', () => {
    clearTimeout(redis['socketTimeoutTimer']);
    redis['socketTimeoutTimer'] = undefined;
  });
}

function watchedBy(sentinels: readonly string[], place: RedisPlace): RedisOptions {
  const { url, tls } = parseStoreUrl(place.REDIS_URL.reveal());
  const { username, password, pathname } = new URL(url);
  const sentinelPassword = place.REDIS_SENTINEL_PASSWORD?.reveal();
  // Each server proves to be the one that the sentinels named.
  const { host: _, servername: __, ...trusted } = tls ?? { host: '' };
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    db: Number(pathname.slice(1) || 0),
    ...(tls && { tls: trusted, enableTLSForSentinelMode: true, sentinelTLS: trusted }),
    sentinels: sentinels.map(hostAndPort),
    name: place.REDIS_SENTINEL_MASTER ?? 'mymaster',
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    // A server that became a replica takes no writes. The client's own detector of failovers is not
    // used: where the connection is lost before it acts, the client ends for ever.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    sentinelCommandTimeout: 1_000,
    sentinelRetryStrategy: (tries) => Math.min(tries * 50, 500),
  };
}

const hostAndPort = (address: string): { host: string; port: number } => {
  const { hostname, port } = new URL(`redis://${address}`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 26_379) };
};

/** The addresses that are Redis, to be kept from what customers reach. Servers are not among them. */
export const redisServices = (place: RedisPlace): readonly string[] => {
  const sentinels = place.REDIS_SENTINELS ?? [];
  if (sentinels.length === 0) return [place.REDIS_URL.reveal()];
  return sentinels.map(hostAndPort).map(({ host, port }) => `${host}:${port}`);
};
