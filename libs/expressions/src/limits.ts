import { Problem } from '@glovebox/problems';

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
  /** No filter makes a text longer than this. */
  textLength: 10 * 1024 * 1024,
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

/** What the expressions of a whole request may still expand to, and their filters work through. */
export class Budget {
  #bytes: number = limits.expandedBytes;
  #characters: number = limits.filteredCharacters;

  spend(text: string): string {
    this.#bytes -= Buffer.byteLength(text);
    if (this.#bytes < 0) throw tooLarge(limits.expandedBytes, 'Expressions may expand to');
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
