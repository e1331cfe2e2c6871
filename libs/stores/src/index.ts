export { connectStores } from './connect-stores';
export { definitionsState } from './definitions-state';
export { observeDefinitions } from './observe-definitions';
