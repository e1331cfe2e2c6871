import { Problem } from '@glovebox/problems';
import type { TakeTurn } from './slices';

export const limits = {
  /** From the first brace to the last, as it stands in the request. */
  expressionBytes: 4_096,
  expressions: 1_000,
  tokens: 100,
  expandedBytes: 10 * 1024 * 1024,
  /** What all filters of a request may read and write: a short chain over a large value, repeated. */
  filteredCharacters: 32 * 1024 * 1024,
  /** Each takes its time however short the text is. */
  filtersPerExpression: 32,
  /** No filter makes a text longer than this; one filter is not interrupted. */
  textLength: 2 * 1024 * 1024,
  padding: 4_096,
} as const;

/** Counts the expressions and tokens of a whole request, before anything is looked up. */
export class Tally {
  readonly #tokenIds = new Set<string>();
  #expressions = 0;

  get tokenIds(): readonly string[] {
    return [...this.#tokenIds];
  }

  add(tokenId: string): void {
    this.#expressions += 1;
    if (this.#expressions > limits.expressions) {
      throw new Problem('invalid_expression', {
        detail: `A request may hold at most ${limits.expressions} expressions.`,
      });
    }
    this.#tokenIds.add(tokenId);
    if (this.#tokenIds.size > limits.tokens) {
      throw new Problem('invalid_expression', {
        detail: `A request may use at most ${limits.tokens} tokens.`,
      });
    }
  }
}

/** Where a request is one of many: what they have in common to work and to keep things in. */
interface Common {
  /** Throws where there is no room for so many bytes more. */
  readonly keep?: (bytes: number) => void;
  readonly takeTurn?: TakeTurn;
}

/** What the expressions of a whole request may still expand to, and their filters work through. */
export class Budget {
  #bytes: number = limits.expandedBytes;
  #characters: number = limits.filteredCharacters;

  constructor(private readonly common: Common = {}) {}

  get keep(): Common['keep'] {
    return this.common.keep;
  }

  get takeTurn(): TakeTurn | undefined {
    return this.common.takeTurn;
  }

  spend(text: string): string {
    const bytes = Buffer.byteLength(text);
    this.#bytes -= bytes;
    if (this.#bytes < 0) throw tooLarge(limits.expandedBytes, 'Expressions may expand to');
    this.common.keep?.(bytes);
    return text;
  }

  work(characters: number): void {
    this.#characters -= characters;
    if (this.#characters < 0) throw tooLarge(limits.filteredCharacters, 'Filters may process');
  }
}

function tooLarge(bytes: number, what: string): Problem {
  return new Problem('payload_too_large', { detail: `${what} at most ${bytes} bytes.` });
}
