import { Problem } from '@glovebox/problems';

/** `{{ id }}` as it stands in a text, from its first brace to behind its last. */
export interface Expression {
  readonly start: number;
  readonly end: number;
  readonly tokenId: string;
}

export const limits = {
  expressionLength: 4_096,
  expressions: 1_000,
  tokens: 100,
  expandedBytes: 10 * 1024 * 1024,
} as const;

const tokenIdShape = /^[^#/\\+?[\]|&=%<>{}^\s\p{Cc}]{3,400}$/u;
const uuidShape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function isTokenId(text: string): boolean {
  return tokenIdShape.test(text) && text.isWellFormed();
}

/** UUIDs are the same in either case; names that customers chose are not. */
export function normalTokenId(id: string): string {
  return uuidShape.test(id) ? id.toLowerCase() : id;
}

/**
 * One linear pass. `{{` without `}}` behind it is plain text; what stands between the two must be
 * an expression, else the request is refused by position, without an echo of the text. `offset` is
 * where the text stands in a larger one.
 */
export function scan(text: string, offset = 0): Expression[] {
  const found: Expression[] = [];
  let start = text.indexOf('{{');
  while (start >= 0) {
    const close = text.indexOf('}}', start + 2);
    if (close < 0) break;
    const end = close + 2;
    const inner = text.slice(start + 2, close).trim();
    if (end - start > limits.expressionLength || !isTokenId(inner)) {
      throw new Problem('invalid_expression', {
        detail: `The expression at character ${offset + start} is not valid.`,
      });
    }
    found.push({ start: offset + start, end: offset + end, tokenId: normalTokenId(inner) });
    start = text.indexOf('{{', end);
  }
  return found;
}
