export { observeShares } from './observe-shares';
export { Shares, type Release, type ShareLimits } from './shares';
