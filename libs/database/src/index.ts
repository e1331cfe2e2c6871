export { queryAsTenant } from './as-tenant';
export { record, recorded, recordEach } from './audit';
export { dataKeysBelow, dataKeyTable, replaceWrapped } from './data-keys';
export {
  connectDatabase,
  connectionShares,
  enterTenant,
  type Database,
  type Sql,
  type SqlPool,
  type Statement,
} from './database';
export { KeyUses } from './key-uses';
export { raiseSealingVersion, sealedCounts, sealingVersion } from './sealing-version';
export type { TokenUses } from './token-uses';
export { decidingGrant, readAndRecord, type Grant, type SealedToken, type Use } from './tokens';
export { asUnavailable, refusesConnections } from './unavailable';
