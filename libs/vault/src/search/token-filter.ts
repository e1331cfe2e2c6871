import { isTokenId, normalTokenId } from '@glovebox/expressions';
import { isJsonObject } from '@glovebox/wire';
import { isTokenType, mustBeType } from '../token-types';

/** A filter of a list. A token must match every part that is given. */
export interface TokenFilter {
  readonly ids?: readonly string[];
  readonly types?: readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
}

export const filterIdsMax = 1_000;
export const filterTypesMax = 20;
const filterNamesMax = 20;

/** Reads a filter from a caller or from customer code, and adds an error for each invalid part. */
export function tokenFilterOf(
  given: {
    readonly ids: readonly unknown[];
    readonly types: readonly unknown[];
    readonly metadata: unknown;
  },
  errors: Record<string, readonly string[]>,
): Required<TokenFilter> {
  const givenIds = given.ids.slice(0, filterIdsMax);
  const ids = givenIds.filter((one) => typeof one === 'string' && isTokenId(one)) as string[];
  if (ids.length < givenIds.length) errors.id = ['must be the id of a token'];
  if (given.ids.length > filterIdsMax) errors.id = [`must be given at most ${filterIdsMax} times`];
  const givenTypes = given.types.slice(0, filterTypesMax);
  const types = givenTypes.filter(isTokenType);
  if (types.length < givenTypes.length) errors.type = [mustBeType];
  if (given.types.length > filterTypesMax) {
    errors.type = [`must be given at most ${filterTypesMax} times`];
  }
  const metadata = metadataOf(given.metadata, errors);
  return { ids: ids.map(normalTokenId), types, metadata };
}

function metadataOf(
  value: unknown,
  errors: Record<string, readonly string[]>,
): Readonly<Record<string, string>> {
  if (!isJsonObject(value)) {
    errors.metadata = ['must be an object'];
    return {};
  }
  const members = Object.entries(value);
  if (members.length > filterNamesMax) {
    errors.metadata = [`must be given for at most ${filterNamesMax} names`];
    return {};
  }
  for (const [name, text] of members) {
    if (typeof text !== 'string' || `${name}${text}`.includes('\0')) {
      errors[`metadata.${name}`] = ['must be a string without NUL'];
    }
  }
  return value as Record<string, string>;
}
