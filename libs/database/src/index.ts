export { record, recorded, recordEach, type AuditRecord } from './audit';
export { dataKeyTable } from './data-keys';
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
export { decidingGrant, readAndRecord, type Grant, type SealedToken, type Use } from './tokens';
export { asUnavailable } from './unavailable';
