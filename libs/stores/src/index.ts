export { connectStores } from './connect-stores';
export { knownMigrations } from './known-migrations';
export { observeDefinitions } from './observe-definitions';
export { watchSchema, type SchemaWatch } from './schema-watch';
