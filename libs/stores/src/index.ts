export { connectStores } from './connect-stores';
export { observeRelay } from './observe-relay';
