export type { FoundParts } from './search/find-tokens';
export { judgedPermissions, type TokenVerdict } from './judge-token';
export { OpeningBudget } from './openings/opening-budget';
export { decideShowing, requireShown, type Showing } from './sights/shown-again';
export { elsewhere, Reach } from './reach';
export type { Viewer } from './sights/shown-tokens';
export { Sights, type Sight } from './sights/sights';
export type { Use } from './statements/read-and-record';
export { usesOneByOne, TokenUses } from './statements/token-uses';
export { isTokenRequest } from './tokenize';
export { requireTokenId, tokenMembers, type TokenInput, type TokenView } from './token';
export { tokenTypes, typedMembers } from './token-types';
export {
  filterIdsMax,
  filterTypesMax,
  tokenFilterOf,
  type TokenFilter,
} from './search/token-filter';
export { faultsWithoutData, searchIndexesMax } from './valid-token';
export { Vault } from './vault';
