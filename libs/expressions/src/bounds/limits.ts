import { Problem } from '@glovebox/problems';
import type { Expression } from '../scan/expression';
import { whyInParts } from '../filters/whole-values';
import type { TakeTurn } from './time-slices';

/** Counted from the first brace to the last, as the expression stands in the request. */
export const expressionBytesMax = 4_096;
const expressionsMax = 1_000;
const tokensMax = 100;
export const expandedBytesMax = 10 * 1024 * 1024;
/**
 * Characters that all filters of a request may read and write. Bounds a short chain that is
 * repeated over a large value.
 */
const filteredCharactersMax = 32 * 1024 * 1024;
/** Filters in one expression. Each takes its time, however short the text is. */
export const filtersMax = 32;
/** The longest text that a filter may make. Most filters are not interrupted. */
export const textLengthMax = 2 * 1024 * 1024;
export const paddingMax = 4_096;

interface ExpressionRules {
  /** The expressions are filled in when the body that leaves is known. */
  readonly mayReadBody?: boolean;
  /** The answer is searched for what is put in, so that no filter may make a part of it. */
  readonly keepsWhole?: boolean;
}

/** Counts the expressions and tokens of a whole request, before any token is looked up. */
export class Tally {
  readonly #tokenIds = new Set<string>();
  #expressions = 0;
  #signsBody = false;

  constructor(private readonly rules: ExpressionRules = {}) {}

  /** One of the expressions reads the body that leaves. */
  get signsBody(): boolean {
    return this.#signsBody;
  }

  get tokenIds(): readonly string[] {
    return [...this.#tokenIds];
  }

  add({
    tokenId,
    signsBody,
    filters,
  }: Pick<Expression, 'tokenId' | 'signsBody' | 'filters'>): void {
    if (this.rules.keepsWhole) refuseParts(filters);
    if (signsBody && !this.rules.mayReadBody) {
      throw new Problem('invalid_expression', {
        detail: '`hmac_body` is for steps of a request that append a header or a query parameter.',
      });
    }
    this.#signsBody ||= signsBody;
    this.#expressions += 1;
    if (this.#expressions > expressionsMax) {
      throw new Problem('invalid_expression', {
        detail: `A request may hold at most ${expressionsMax} expressions.`,
      });
    }
    this.#tokenIds.add(tokenId);
    if (this.#tokenIds.size > tokensMax) {
      throw new Problem('invalid_expression', {
        detail: `A request may use at most ${tokensMax} tokens.`,
      });
    }
  }
}

function refuseParts(filters: Expression['filters']): void {
  const why = whyInParts(filters);
  if (why === undefined) return;
  throw new Problem('invalid_expression', {
    detail: `The proxy has \`scrub\`, which looks for whole values in the answer: ${why}.`,
  });
}

/** Memory and turns that a request shares with others. */
interface Common {
  /** Throws when there is no room for so many more bytes. */
  readonly keep?: (bytes: number) => void;
  readonly takeTurn?: TakeTurn;
}

/** Told of values, each with the text of its expression. */
export interface ValueObservers {
  /** Each value that is put in. */
  readonly onFilledIn?: ((source: string, value: unknown) => void) | undefined;
  /** Each value before a filter that its receiver may tell from the result. */
  readonly onFiltered?: ((source: string, value: unknown) => void) | undefined;
}

/**
 * The bytes that a whole request may still expand to, and the characters that its filters may still
 * process.
 */
export class Budget {
  #bytes = expandedBytesMax;
  #characters = filteredCharactersMax;

  constructor(
    private readonly common: Common = {},
    readonly observers: ValueObservers = {},
    /** The bytes of the body that leaves, where they are known. */
    readonly body?: Buffer,
  ) {}

  get keep(): Common['keep'] {
    return this.common.keep;
  }

  get takeTurn(): TakeTurn | undefined {
    return this.common.takeTurn;
  }

  spend(text: string): string {
    const bytes = Buffer.byteLength(text);
    this.#bytes -= bytes;
    if (this.#bytes < 0) throw tooLarge(expandedBytesMax, 'Expressions may expand to');
    this.common.keep?.(bytes);
    return text;
  }

  work(characters: number): void {
    this.#characters -= characters;
    if (this.#characters < 0) throw tooLarge(filteredCharactersMax, 'Filters may process');
  }
}

function tooLarge(bytes: number, what: string): Problem {
  return new Problem('payload_too_large', { detail: `${what} at most ${bytes} bytes.` });
}
