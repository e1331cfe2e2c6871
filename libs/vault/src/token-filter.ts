import { isTokenId, normalTokenId } from '@glovebox/expressions';
import { isTokenType } from './token-types';

/** Which tokens a list shows; all that are given have to fit. */
export interface TokenFilter {
  readonly ids?: readonly string[];
  readonly types?: readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
}

export const filterIdsMax = 1_000;
export const filterNamesMax = 20;

/** What callers and customers' code ask a list for; what is wrong is put among the errors. */
export function tokenFilterOf(
  given: {
    readonly ids: readonly unknown[];
    readonly types: readonly unknown[];
    readonly metadata: unknown;
  },
  errors: Record<string, readonly string[]>,
): Required<TokenFilter> {
  const ids = given.ids.filter((one) => typeof one === 'string' && isTokenId(one)) as string[];
  if (ids.length < given.ids.length) errors.id = ['must be the id of a token'];
  if (given.ids.length > filterIdsMax) errors.id = [`must be given at most ${filterIdsMax} times`];
  const types = given.types.filter(isTokenType);
  if (types.length < given.types.length) errors.type = ['is not a known token type'];
  const metadata = metadataOf(given.metadata, errors);
  if (Object.keys(metadata).length > filterNamesMax) {
    errors.metadata = [`must be given for at most ${filterNamesMax} names`];
  }
  return { ids: ids.map(normalTokenId), types, metadata };
}

function metadataOf(
  value: unknown,
  errors: Record<string, readonly string[]>,
): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    errors.metadata = ['must be an object'];
    return {};
  }
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== 'string' || `${name}${text}`.includes('\0')) {
      errors[`metadata.${name}`] = ['must be a string without NUL'];
    }
  }
  return value as Record<string, string>;
}
