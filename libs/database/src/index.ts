export { record, recorded, recordEach, type AuditRecord } from './audit';
export { dataKeysBelow, dataKeyTable, replaceWrapped } from './data-keys';
export {
  connectDatabase,
  enterTenant,
  type Database,
  type DatabaseOptions,
  type Prepared,
  type Sql,
  type Statement,
} from './database';
export { KeyUses } from './key-uses';
export {
  raiseSealingVersion,
  sealedCounts,
  sealingVersion,
  type SealedCount,
} from './sealing-version';
export { decidingGrant, readAndRecord, type Grant, type SealedToken, type Use } from './tokens';
export { asUnavailable, refusesConnections } from './unavailable';
