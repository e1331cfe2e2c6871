export type { FoundTokens, TokenPage } from './find-tokens';
export { requireGrant, type StoredToken } from './store-tokens';
export type { Actor, NewToken, TokenInput, TokenView } from './token';
export { tokenTypes } from './token-types';
export { Vault, type TokenFilter, type TokenizedDocument } from './vault';
