export { observeShares } from './observe-shares';
export { Shares, type Release, type Taken } from './shares';
