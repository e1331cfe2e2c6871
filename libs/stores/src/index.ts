export { connectStores, type Stores } from './connect-stores';
