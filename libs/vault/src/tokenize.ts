import { Budget, type Work } from '@glovebox/expressions';
import { invalid, Problem } from '@glovebox/problems';
import { fromWire, toWire } from '@glovebox/wire';
import { refuseUnwieldy } from './document-bounds';
import { tokenMembers, type TokenInput, type TokenView } from './token';
import { tokenType } from './token-types';
import { validateToken, type ValidToken } from './valid-token';

const tokenizedTokensMax = 1_000;

/** The tokens of a document to store, and a function that puts them into the document. */
interface Tokenization {
  readonly tokens: readonly ValidToken[];
  readonly fill: (stored: readonly TokenView[]) => unknown;
}

/** The path from a value up to the document. It is written out only for an error. */
type MemberPath = { readonly name: string; readonly up: MemberPath } | null;

/** Adds a token to store, and returns its place among them. */
type Add = (input: TokenInput, path: MemberPath) => number;

type Filler = (stored: readonly TokenView[]) => unknown;

/** Plain values become ids, and `{type, data}` becomes a token. Null and the shape stay. */
export function* tokenizationOf(document: unknown): Work<Tokenization> {
  refuseUnwieldy(document);
  const tokens: ValidToken[] = [];
  const budget = new Budget();
  const add: Add = (input, path) => {
    if (tokens.length === tokenizedTokensMax) {
      throw invalid({ body: [`must hold at most ${tokenizedTokensMax} values to tokenize`] });
    }
    return tokens.push(validatedAt(path, input, budget)) - 1;
  };
  const fill = yield* fillerOf(document, null, add);
  return { tokens, fill };
}

function* fillerOf(value: unknown, path: MemberPath, add: Add): Work<Filler> {
  yield;
  if (value === null || value === undefined) return () => null;
  if (typeof value !== 'object') {
    const at = add({ data: value }, path);
    return (stored) => stored[at]?.id;
  }
  if (isTokenRequest(value)) {
    const at = add(fromWire(tokenMembers, value), path);
    return (stored) => {
      const token = stored[at];
      return token && toWire(token);
    };
  }
  if (Array.isArray(value)) {
    const items: Filler[] = [];
    for (const [at, item] of value.entries()) {
      items.push(yield* fillerOf(item, { name: String(at), up: path }, add));
    }
    return (stored) => items.map((item) => item(stored));
  }
  const members: [name: string, member: Filler][] = [];
  for (const [name, member] of Object.entries(value)) {
    members.push([name, yield* fillerOf(member, { name, up: path }, add)]);
  }
  return (stored) => Object.fromEntries(members.map(([name, member]) => [name, member(stored)]));
}

/** An object that asks for a token of a known type. */
export function isTokenRequest(value: object): value is { readonly data: unknown } {
  return (
    Object.hasOwn(value, 'data') &&
    Object.hasOwn(value, 'type') &&
    tokenType((value as TokenInput).type) !== undefined
  );
}

/** Validates a token. Errors name their path through the document. */
function validatedAt(path: MemberPath, input: TokenInput, budget: Budget): ValidToken {
  try {
    return validateToken(input, budget);
  } catch (error) {
    if (path === null || !(error instanceof Problem) || !error.errors) throw error;
    const prefix = pathOf(path);
    const errors = Object.entries(error.errors).map(
      ([name, messages]) => [`${prefix}.${name}`, messages] as const,
    );
    throw invalid(Object.fromEntries(errors));
  }
}

function pathOf({ name, up }: NonNullable<MemberPath>): string {
  return up === null ? name : `${pathOf(up)}.${name}`;
}
