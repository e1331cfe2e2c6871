export { connectRedis } from './connect-redis';
export { parseStoreUrl, withLogin, withoutLogin, type StoreTls, type StoreUrl } from './store-url';
export { StoreNotTrusted, trustFault } from './store-not-trusted';
