export { connectStores } from './connect-stores';
export { observeDefinitions } from './observe-definitions';
