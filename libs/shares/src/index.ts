export { observeShares } from './observe-shares';
export { Shares, type Release } from './shares';
