export type { FoundTokens, TokenPage } from './find-tokens';
export { Opening } from './opening';
export { requireSights, sightsOf, type Sight } from './sights';
export { requireGrant, type StoredToken } from './store-tokens';
export type { NewToken, TokenInput, TokenView } from './token';
export { tokenTypes } from './token-types';
export { tokenFilterOf, type TokenFilter } from './token-filter';
export { faultsWithoutData } from './valid-token';
export { Vault, type TokenizedDocument } from './vault';
