import { Budget } from '@glovebox/expressions';
import { invalid, Problem } from '@glovebox/problems';
import { refuseDeep } from './depth';
import type { TokenInput, TokenView } from './token';
import { tokenType } from './token-types';
import { validateToken, type ValidToken } from './valid-token';

const tokensMax = 1_000;

/** A document with holes where values were: the tokens to store, and what becomes of the document. */
export interface Tokenization {
  readonly tokens: readonly ValidToken[];
  readonly fill: (stored: readonly TokenView[]) => unknown;
}

type Filler = (stored: readonly TokenView[]) => unknown;

/** Plain values become ids, `{type, data}` becomes a token; null and the shape of the rest stay. */
export function tokenizationOf(document: unknown): Tokenization {
  refuseDeep(document);
  const tokens: ValidToken[] = [];
  const budget = new Budget();
  const add = (input: TokenInput, path: string): number => {
    if (tokens.length === tokensMax) {
      throw invalid({ '': [`must hold at most ${tokensMax} values to tokenize`] });
    }
    return tokens.push(validatedAt(path, input, budget)) - 1;
  };
  const walk = (value: unknown, path: string): Filler => {
    if (value === null || value === undefined) return () => null;
    if (typeof value !== 'object') {
      const at = add({ data: value }, path);
      return (stored) => stored[at]?.id;
    }
    if (isTokenRequest(value)) {
      const at = add(value, path);
      return (stored) => stored[at];
    }
    const inside = (name: string): string => (path === '' ? name : `${path}.${name}`);
    if (Array.isArray(value)) {
      const items = value.map((item, at) => walk(item, inside(String(at))));
      return (stored) => items.map((item) => item(stored));
    }
    const members = Object.entries(value).map(
      ([name, member]) => [name, walk(member, inside(name))] as const,
    );
    return (stored) => Object.fromEntries(members.map(([name, member]) => [name, member(stored)]));
  };
  const fill = walk(document, '');
  return { tokens, fill };
}

/** An object that asks for a token of a type we know. */
function isTokenRequest(value: object): value is TokenInput {
  return (
    Object.hasOwn(value, 'data') &&
    Object.hasOwn(value, 'type') &&
    tokenType((value as TokenInput).type) !== undefined
  );
}

/** What is wrong with a token is named with the way to it through the document. */
function validatedAt(path: string, input: TokenInput, budget: Budget): ValidToken {
  try {
    return validateToken(input, budget);
  } catch (error) {
    if (path === '' || !(error instanceof Problem) || !error.errors) throw error;
    const errors = Object.entries(error.errors).map(
      ([name, messages]) => [`${path}.${name}`, messages] as const,
    );
    throw invalid(Object.fromEntries(errors));
  }
}
