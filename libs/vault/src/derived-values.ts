import { Budget, dataTemplate, Tally } from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';
import { isShort, mustBeShort } from './document-bounds';
import type { TokenOptions } from './token';
import type { TokenType } from './token-types';

/** What is made of a token's data when it is written. */
export interface Derived {
  /** Undefined: there is nothing to show in place of the data. */
  readonly mask: unknown;
  /** What the fingerprint is made of, unless it is the data itself. */
  readonly fingerprinted: unknown;
  /** The texts that the token is found by. */
  readonly indexed: readonly string[];
}

const maskBytesMax = 1024 * 1024;

/**
 * Fills in the expressions of a token over its data. One that cannot be resolved is named by its
 * member. Whoever stores several tokens at once gives all of them one budget.
 */
export function derive(
  type: TokenType,
  data: unknown,
  options: TokenOptions,
  errors: Record<string, readonly string[]>,
  budget = new Budget(),
): Derived {
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
    indexed: indexes.map((one) => termText(over('searchIndexes', one))),
  };
  if (!isShort(derived.mask)) errors.mask = [mustBeShort];
  else if (Buffer.byteLength(JSON.stringify(derived.mask ?? null)) > maskBytesMax) {
    errors.mask = ['must make at most 1 MiB of JSON'];
  }
  return derived;
}

/** Says which members of a token hold an expression that is not valid, whatever the data will be. */
export function readExpressions(
  options: TokenOptions,
  errors: Record<string, readonly string[]>,
): void {
  const tally = new Tally();
  for (const [member, document] of Object.entries(options)) {
    try {
      dataTemplate(document, tally);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      errors[member] ??= [error.message];
    }
  }
}

/** What an index holds is found by its text, whatever the type of the value. */
function termText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}
