export type { FoundTokens, TokenPage } from './find-tokens';
export { OpeningBudget } from './opening-budget';
export {
  decideShowing,
  requireShown,
  type KeptAnswer,
  type Showing,
  type Verdict,
} from './shown-again';
export type { Viewer } from './shown-tokens';
export { Sights, type Sight } from './sights';
export type { Use } from './statements/read-and-record';
export { usesOneByOne, TokenUses } from './statements/token-uses';
export { isTokenRequest } from './tokenize';
export { requireTokenId, tokenMembers, type TokenInput, type TokenView } from './token';
export { tokenTypes } from './token-types';
export { tokenFilterOf, type TokenFilter } from './token-filter';
export { faultsWithoutData } from './valid-token';
export { Vault } from './vault';
