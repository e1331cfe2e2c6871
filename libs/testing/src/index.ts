export { testBubblewrap } from './environment';
export { startDestination } from './destination';
export type { Destination, RecordedRequest } from './destination';
export { freePort } from './free-port';
export { startRedis, testRedisUrl } from './redis';
export type { PrivateRedis } from './redis';
export { createTestDatabase } from './test-database';
export type { TestDatabase } from './test-database';
export { waitFor } from './wait-for';
