export { observeShares } from './observe-shares';
export { Shares, type Release, type TakenPlaces } from './shares';
