import { Redis, type RedisOptions } from 'ioredis';

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

/** Every client of Redis is made here. */
export function connectRedis(place: RedisPlace, options: RedisOptions): Redis {
  const url = place.REDIS_URL.reveal();
  const sentinels = place.REDIS_SENTINELS ?? [];
  if (sentinels.length === 0) return new Redis(url, options);
  const { username, password, pathname, protocol } = new URL(url);
  const sentinelPassword = place.REDIS_SENTINEL_PASSWORD?.reveal();
  return new Redis({
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    db: Number(pathname.slice(1) || 0),
    ...(protocol === 'rediss:' && { tls: {}, enableTLSForSentinelMode: true, sentinelTLS: {} }),
    ...options,
    sentinels: sentinels.map(hostAndPort),
    name: place.REDIS_SENTINEL_MASTER ?? 'mymaster',
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    // A server that became a replica takes no writes. The client's own detector of failovers is not
    // used: where the connection is lost before it acts, the client ends for ever.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    sentinelCommandTimeout: 1_000,
    sentinelRetryStrategy: (tries) => Math.min(tries * 50, 500),
  });
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
