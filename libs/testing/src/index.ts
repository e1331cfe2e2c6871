export { enterTenant } from './enter-tenant';
export { testBubblewrap, testRuntimes, testSeed } from './environment';
export { AttachedDebugger } from './attached-debugger';
export { createAuthority, type Authority } from './authority';
export { startDestination, type Destination, type RecordedRequest } from './destination';
export { documentedLimits, tableRows, type DocumentedLimit } from './documented-limits';
export { startDnsServer, type DnsAnswer, type DnsQuestion, type DnsServer } from './dns-server';
export { forbiddenHosts } from './forbidden-hosts';
export { brokenFrames, chunksOf } from './frame-streams';
export { fastest } from './fastest';
export { freePort } from './free-port';
export { startTcpRelay, type TcpRelay } from './tcp-relay';
export { fractionsFrom, randomFrom, type Random } from './random';
export { rewriteDefinition, type DefinitionPayload } from './rewrite-definition';
export { startPostgres, type PrivatePostgres } from './postgres';
export { startRedis, startReplica, startSentinel, type PrivateRedis } from './redis';
export { startRunner } from './runner';
export {
  createEmptyDatabase,
  createTestDatabase,
  useTestDatabase,
  type TestDatabase,
} from './test-database';
export { itLeavesNoConnectionOpen } from './open-connections';
export { waitFor } from './wait-for';
