export { connectStores } from './connect-stores';
export { checkStores } from './doctor/store-checks';
export { observeDefinitions } from './observe-definitions';
