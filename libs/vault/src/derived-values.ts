import { Budget, dataTemplate, Tally } from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';
import { isShort, mustBeShort } from './document-bounds';
import type { TokenOptions } from './token';
import type { TokenType } from './token-types';

/** The values that are made of a token's data when it is written. */
export interface DerivedValues {
  /** Undefined where nothing is shown in place of the data. */
  readonly mask: unknown;
  /** The value that the fingerprint is made of, unless it is made of the data itself. */
  readonly fingerprinted: unknown;
  /** The texts that a search finds the token by. */
  readonly indexed: readonly string[];
}

const maskBytesMax = 1024 * 1024;

/**
 * Fills in the expressions of a token over its data. An error names the member whose expression
 * cannot be resolved. Several tokens that are stored at once share one budget.
 */
export function derive(
  type: TokenType,
  data: unknown,
  options: TokenOptions,
  errors: Record<string, readonly string[]>,
  budget = new Budget(),
): DerivedValues {
  const tally = new Tally();
  const over = (member: string, document: unknown): unknown => {
    try {
      return dataTemplate(document, tally).render(data, budget);
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 400) throw error;
      errors[member] = [error.message];
      return undefined;
    }
  };
  const { mask, searchIndexes: indexes = [], fingerprintExpression: expression } = options;
  const derived = {
    mask: mask === undefined ? type.maskOf(data) : over('mask', mask),
    fingerprinted: expression && over('fingerprintExpression', expression),
    indexed: indexes.map((one, at) => termText(over(`searchIndexes.${at}`, one))),
  };
  if (!isShort(derived.mask)) errors.mask = [mustBeShort];
  else if (Buffer.byteLength(JSON.stringify(derived.mask ?? null)) > maskBytesMax) {
    errors.mask = ['must make at most 1 MiB of JSON'];
  }
  return derived;
}

/** Adds an error for each member with an expression that is invalid for any data. */
export function readExpressions(
  options: TokenOptions,
  errors: Record<string, readonly string[]>,
): void {
  const tally = new Tally();
  const { searchIndexes = [], ...others } = options;
  const indexes = searchIndexes.map((one, at) => [`searchIndexes.${at}`, one] as const);
  for (const [member, document] of [...Object.entries(others), ...indexes]) {
    try {
      dataTemplate(document, tally);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      errors[member] ??= [error.message];
    }
  }
}

/** Searches compare texts: other values of an index are found by their JSON. */
function termText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}
