export { queryAsTenant } from './as-tenant';
export { record, orAuditUnavailable, recordEach } from './audit';
export { Conditions, type CursorQuery } from './conditions';
export { dataKeysBelow, dataKeyTable, replaceWrappedKeys } from './data-keys';
export {
  connectDatabase,
  connectionShares,
  type Database,
  type PreparedStatement,
  type Sql,
  type SqlPool,
  type Statement,
} from './database';
export { KeyUses } from './key-uses';
export {
  countUpTo,
  estimate,
  findPage,
  readCursor,
  type Count,
  type FoundPage,
  type PageQuery,
  type Pagination,
} from './pages';
export { dropOldRows, makePartitions } from './partitions';
export type { Part } from './places';
export { readerVersion } from './reader-version';
export { raiseSealingVersion, sealedCounts, sealingVersion } from './sealing-version';
export { SharedStatement, type Locking } from './shared-statement';
export { lowestIdAt, timeOfId, timeOrderedId } from './time-ordered-id';
export { asUnavailable, refusesConnections, tookTooLong } from './unavailable';
