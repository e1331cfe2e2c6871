export { connectStores } from './connect-stores';
export { definitionsState } from './definitions-state';
export { checkStores } from './doctor/store-checks';
export { knownMigrations } from './known-migrations';
export { liveProcesses, type LiveProcess } from './live-processes';
export { observeDefinitions } from './observe-definitions';
export { watchSchema, type SchemaWatch } from './schema-watch';
