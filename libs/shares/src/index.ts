export { observeShares } from './observe-shares';
export { Shares, type Release, type ShareLimits, type Taken } from './shares';
