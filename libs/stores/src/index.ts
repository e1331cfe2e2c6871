export { connectStores } from './connect-stores';
