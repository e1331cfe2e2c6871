import { Problem } from '@glovebox/problems';
import { limits, scan, type Expression } from './scan';

/** A text or value with holes in it: which tokens it asks for, and what it is once they are known. */
export interface Template<Result> {
  readonly tokenIds: readonly string[];
  render(values: ReadonlyMap<string, unknown>): Result;
}

/** Counts expressions and tokens before anything is looked up, and bytes while they are put in. */
class Tally {
  readonly tokenIds = new Set<string>();
  #expressions = 0;

  add(expressions: readonly Expression[]): void {
    this.#expressions += expressions.length;
    for (const { tokenId } of expressions) this.tokenIds.add(tokenId);
    if (this.#expressions > limits.expressions) {
      throw new Problem('invalid_expression', {
        detail: `A request may hold at most ${limits.expressions} expressions.`,
      });
    }
    if (this.tokenIds.size > limits.tokens) {
      throw new Problem('invalid_expression', {
        detail: `A request may use at most ${limits.tokens} tokens.`,
      });
    }
  }
}

class Budget {
  #left: number = limits.expandedBytes;

  spend(text: string): string {
    this.#left -= Buffer.byteLength(text);
    if (this.#left < 0) {
      throw new Problem('payload_too_large', {
        detail: `Expressions may expand to at most ${limits.expandedBytes} bytes.`,
      });
    }
    return text;
  }
}

/**
 * Parsed JSON, such as the arguments of a reactor: a string that is exactly one expression becomes
 * the value with its type, in longer text a value becomes text.
 */
export function valueTemplate(value: unknown): Template<unknown> {
  const tally = new Tally();
  const build = holesOf(value, tally);
  return {
    tokenIds: [...tally.tokenIds],
    render: (values) => build(values, new Budget()),
  };
}

type Builder = (values: ReadonlyMap<string, unknown>, budget: Budget) => unknown;

function holesOf(value: unknown, tally: Tally): Builder {
  if (typeof value === 'string') {
    const expressions = scan(value);
    tally.add(expressions);
    const [only] = expressions;
    if (!only) return () => value;
    if (only.start === 0 && only.end === value.length) {
      return (values, budget) => {
        const data = valueOf(values, only);
        budget.spend(textOf(data));
        return data;
      };
    }
    return (values, budget) =>
      fill(value, expressions, (expression) => budget.spend(textOf(valueOf(values, expression))));
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => holesOf(item, tally));
    return (values, budget) => items.map((item) => item(values, budget));
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([name, member]) => [name, holesOf(member, tally)] as const,
    );
    return (values, budget) =>
      Object.fromEntries(members.map(([name, member]) => [name, member(values, budget)]));
  }
  return () => value;
}

/**
 * A JSON document as text, changed only where expressions stand: a string that is exactly one
 * expression makes room for an object or array, everything else is text inside the string.
 */
export function jsonTemplate(text: string): Template<string> {
  const expressions = scanStrings(text);
  const tally = new Tally();
  tally.add(expressions);
  return {
    tokenIds: [...tally.tokenIds],
    render(values) {
      const budget = new Budget();
      const json = perToken((tokenId) => JSON.stringify(valueOf(values, { tokenId })));
      const inString = perToken((tokenId) =>
        JSON.stringify(textOf(valueOf(values, { tokenId }))).slice(1, -1),
      );
      const holes = expressions.map(({ start, end, tokenId, isWholeValue }) => {
        const data = valueOf(values, { tokenId });
        return isWholeValue && typeof data === 'object' && data !== null
          ? { start: start - 1, end: end + 1, tokenId, textFor: json }
          : { start, end, tokenId, textFor: inString };
      });
      return fill(text, holes, ({ tokenId, textFor }) => budget.spend(textFor(tokenId)));
    },
  };
}

/** A large token that stands a thousand times in a body is written out once. */
function perToken(write: (tokenId: string) => string): (tokenId: string) => string {
  const written = new Map<string, string>();
  return (tokenId) => {
    const before = written.get(tokenId);
    if (before !== undefined) return before;
    const text = write(tokenId);
    written.set(tokenId, text);
    return text;
  };
}

interface StringExpression extends Expression {
  /** It is all that its string holds, and the string is a value and no name of a member. */
  readonly isWholeValue: boolean;
}

/**
 * The expressions of a document, string by string: braces that open in one string and close in
 * another enclose other people's data, not an expression.
 */
function scanStrings(text: string): StringExpression[] {
  const found: StringExpression[] = [];
  let at = 0;
  while (at < text.length) {
    const quote = text.indexOf('"', at);
    const gap = text.slice(at, quote < 0 ? undefined : quote);
    const [stray] = scan(gap, at);
    if (stray) {
      throw new Problem('invalid_expression', {
        detail: `The expression at character ${stray.start} stands outside of a JSON string.`,
      });
    }
    if (quote < 0) break;
    const close = endOfString(text, quote);
    const expressions = scan(text.slice(quote + 1, close), quote + 1);
    const isName = /^\s*:/.test(text.slice(close + 1, close + 65));
    for (const expression of expressions) {
      const isWhole = expression.start === quote + 1 && expression.end === close;
      found.push({ ...expression, isWholeValue: isWhole && !isName });
    }
    at = close + 1;
  }
  return found;
}

/** Where the closing quote stands; the end of a text that breaks off. */
function endOfString(text: string, quote: number): number {
  let at = quote + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return Math.min(at, text.length);
}

function fill<Hole extends { start: number; end: number }>(
  text: string,
  holes: readonly Hole[],
  textFor: (hole: Hole) => string,
): string {
  const parts: string[] = [];
  let last = 0;
  for (const hole of holes) {
    parts.push(text.slice(last, hole.start), textFor(hole));
    last = hole.end;
  }
  parts.push(text.slice(last));
  return parts.join('');
}

function valueOf(
  values: ReadonlyMap<string, unknown>,
  { tokenId }: Pick<Expression, 'tokenId'>,
): unknown {
  if (!values.has(tokenId)) throw new Error('A template was rendered without one of its tokens');
  return values.get(tokenId);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
