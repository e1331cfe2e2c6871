export { connectRedis, redisServices, type RedisPlace } from './connect-redis';
export { parseStoreUrl, withLogin, withoutLogin, type StoreTls } from './store-url';
export { StoreNotTrusted, trustFault } from './store-not-trusted';
