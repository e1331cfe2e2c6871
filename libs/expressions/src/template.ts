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
  const expressions = scan(text);
  const tally = new Tally();
  tally.add(expressions);
  const whole = wholeStrings(text, expressions);
  return {
    tokenIds: [...tally.tokenIds],
    render(values) {
      const budget = new Budget();
      const holes = expressions.map((expression, index) => {
        const data = valueOf(values, expression);
        const structured = typeof data === 'object' && data !== null && whole[index] === true;
        return structured
          ? { start: expression.start - 1, end: expression.end + 1, text: JSON.stringify(data) }
          : { ...expression, text: JSON.stringify(textOf(data)).slice(1, -1) };
      });
      return fill(text, holes, (hole) => budget.spend(hole.text));
    },
  };
}

/** For each expression: is it all that its JSON string holds? Refuses those outside of strings. */
function wholeStrings(text: string, expressions: readonly Expression[]): boolean[] {
  let at = 0;
  let inString = false;
  return expressions.map(({ start, end }) => {
    for (; at < start; at += 1) {
      if (text[at] === '\\' && inString) at += 1;
      else if (text[at] === '"') inString = !inString;
    }
    if (!inString) {
      throw new Problem('invalid_expression', {
        detail: `The expression at character ${start} stands outside of a JSON string.`,
      });
    }
    at = end;
    return text[start - 1] === '"' && text[end] === '"' && !isEscaped(text, start - 1);
  });
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
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

function valueOf(values: ReadonlyMap<string, unknown>, { tokenId }: Expression): unknown {
  if (!values.has(tokenId)) throw new Error('A template was rendered without one of its tokens');
  return values.get(tokenId);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
