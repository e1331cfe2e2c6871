import type { TokenOptions } from './token';

/** The JSON in the column `options`. Its names never change: stored rows have them. */
interface StoredOptions {
  readonly mask?: unknown;
  readonly search_indexes?: readonly string[];
  readonly fingerprint_expression?: string;
}

export function toStoredOptions(options: TokenOptions): StoredOptions {
  const { mask, searchIndexes, fingerprintExpression } = options;
  return {
    ...(mask === undefined ? {} : { mask }),
    ...(searchIndexes === undefined ? {} : { search_indexes: searchIndexes }),
    ...(fingerprintExpression === undefined
      ? {}
      : { fingerprint_expression: fingerprintExpression }),
  };
}

/** The seal proves that this process wrote it or one before it. */
export function fromStoredOptions(opened: unknown): TokenOptions {
  const stored = opened as StoredOptions;
  return {
    ...(stored.mask === undefined ? {} : { mask: stored.mask }),
    ...(stored.search_indexes === undefined ? {} : { searchIndexes: stored.search_indexes }),
    ...(stored.fingerprint_expression === undefined
      ? {}
      : { fingerprintExpression: stored.fingerprint_expression }),
  };
}
