import { Budget } from '@glovebox/expressions';
import { invalid, Problem } from '@glovebox/problems';
import { fromWire, toWire } from '@glovebox/wire';
import { refuseUnwieldy } from './document-bounds';
import { tokenMembers, type TokenInput, type TokenView } from './token';
import { tokenType } from './token-types';
import { validateToken, type ValidToken } from './valid-token';

const tokenizedTokensMax = 1_000;

/** A document with holes where values were: the tokens to store, and what becomes of the document. */
interface Tokenization {
  readonly tokens: readonly ValidToken[];
  readonly fill: (stored: readonly TokenView[]) => unknown;
}

/** From a value up to the document; written out only where something is wrong. */
type Way = { readonly name: string; readonly up: Way } | null;

type Filler = (stored: readonly TokenView[]) => unknown;

/** Plain values become ids, `{type, data}` becomes a token; null and the shape of the rest stay. */
export function tokenizationOf(document: unknown): Tokenization {
  refuseUnwieldy(document);
  const tokens: ValidToken[] = [];
  const budget = new Budget();
  const add = (input: TokenInput, way: Way): number => {
    if (tokens.length === tokenizedTokensMax) {
      throw invalid({ '': [`must hold at most ${tokenizedTokensMax} values to tokenize`] });
    }
    return tokens.push(validatedAt(way, input, budget)) - 1;
  };
  const walk = (value: unknown, way: Way): Filler => {
    if (value === null || value === undefined) return () => null;
    if (typeof value !== 'object') {
      const at = add({ data: value }, way);
      return (stored) => stored[at]?.id;
    }
    if (isTokenRequest(value)) {
      const at = add(fromWire(tokenMembers, value), way);
      return (stored) => {
        const token = stored[at];
        return token && toWire(token);
      };
    }
    if (Array.isArray(value)) {
      const items = value.map((item, at) => walk(item, { name: String(at), up: way }));
      return (stored) => items.map((item) => item(stored));
    }
    const members = Object.entries(value).map(
      ([name, member]) => [name, walk(member, { name, up: way })] as const,
    );
    return (stored) => Object.fromEntries(members.map(([name, member]) => [name, member(stored)]));
  };
  const fill = walk(document, null);
  return { tokens, fill };
}

/** An object that asks for a token of a type we know. */
function isTokenRequest(value: object): boolean {
  return (
    Object.hasOwn(value, 'data') &&
    Object.hasOwn(value, 'type') &&
    tokenType((value as TokenInput).type) !== undefined
  );
}

/** What is wrong with a token is named with the way to it through the document. */
function validatedAt(way: Way, input: TokenInput, budget: Budget): ValidToken {
  try {
    return validateToken(input, budget);
  } catch (error) {
    if (way === null || !(error instanceof Problem) || !error.errors) throw error;
    const path = pathOf(way);
    const errors = Object.entries(error.errors).map(
      ([name, messages]) => [`${path}.${name}`, messages] as const,
    );
    throw invalid(Object.fromEntries(errors));
  }
}

function pathOf({ name, up }: NonNullable<Way>): string {
  return up === null ? name : `${pathOf(up)}.${name}`;
}
