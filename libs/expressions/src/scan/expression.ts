import { Problem } from '@glovebox/problems';
import { type Budget, expressionBytesMax, filtersMax } from '../bounds/limits';
import type { Work } from '../bounds/time-slices';
import type { Argument } from '../filters/filter';
import { makeChange } from '../filters/filters';
import { readSteps, valueAt } from '../filters/json-path';
import { quoted, Reader, unquote } from '../filters/reader';
import { isTokenId, normalTokenId } from './token-id';

/** The text between `{{` and `}}`: a token, and the filters that its value goes through. */
export interface Expression {
  /** The id of a token, or the root of a path. */
  readonly tokenId: string;
  /** The text that was read. Equal sources have equal results. */
  readonly source: string;
  evaluate(value: unknown, budget: Budget): Work<unknown>;
}

/**
 * The beginning of an expression: the id of a token; `data` or a path below it; or a path in the
 * document that is being changed, from its root `$` or from the changed place `@`.
 */
export type ExpressionRoot = 'token' | 'data' | 'place';

/**
 * Refuses the request by place and never echoes the text, which may be confidential. A place is a
 * position, or a position at a path through a document: `4 of a.b`.
 */
export function malformed(place: string, why = 'is not valid'): Problem {
  return new Problem('invalid_expression', {
    detail: `The expression at character ${place} ${why}.`,
  });
}

interface Step {
  readonly change: (value: unknown, budget: Budget) => Work<unknown>;
  /** The detail for a value that the step cannot take. */
  readonly fault: string;
}

export function tooLong(place: string): Problem {
  return malformed(place, `is longer than ${expressionBytesMax} bytes`);
}

interface Found {
  /** The text with its braces, as it stands in the request. */
  readonly marked: string;
  /**
   * The text between the braces, decoded as its context is read. Undefined if it cannot be decoded.
   */
  readonly inner: string | undefined;
  readonly place: string;
  readonly root: ExpressionRoot;
}

export function readExpression({ marked, inner, place, root }: Found): Expression {
  if (Buffer.byteLength(marked) > expressionBytesMax) throw tooLong(place);
  if (inner === undefined) throw malformed(place);
  return parse(inner, place, root);
}

function parse(source: string, place: string, root: ExpressionRoot): Expression {
  const reader = new Reader(source);
  const start = root === 'token' ? readTokenId(reader) : readPath(reader, roots[root]);
  if (!start) throw malformed(place);
  const steps = [...start.steps];
  const stepsInAll = steps.length + filtersMax;
  while (!reader.isAtEnd) {
    if (steps.length === stepsInAll) {
      throw malformed(place, `has more than ${filtersMax} filters`);
    }
    steps.push(readFilter(reader, place));
  }
  return {
    tokenId: start.tokenId,
    source,
    evaluate: (value, budget) => evaluate(value, steps, budget, place),
  };
}

interface Start {
  readonly tokenId: string;
  readonly steps: readonly Step[];
}

function readTokenId(reader: Reader): Start | undefined {
  const id = reader.take(/[^|]*/y)?.[0].trim() ?? '';
  return isTokenId(id) ? { tokenId: normalTokenId(id), steps: [] } : undefined;
}

const roots = { data: /\s*(data)/y, place: /\s*([$@])/y };

function readPath(reader: Reader, root: RegExp): Start | undefined {
  const tokenId = reader.take(root)?.[1];
  if (tokenId === undefined) return undefined;
  const path = readSteps(reader);
  if (!path || !reader.take(/\s*(?=\||$)/y)) return undefined;
  const change: Step['change'] = function* (value, budget) {
    yield;
    return valueAt(value, path, budget);
  };
  return { tokenId, steps: [{ change, fault: 'leads to no value or to several' }] };
}

function readFilter(reader: Reader, place: string): Step {
  const name = reader.take(/\|\s*([a-z][a-z0-9_]*)\s*/y)?.[1];
  if (name === undefined) throw malformed(place);
  const args = reader.take(/:/y) ? readArguments(reader) : [];
  if (!args || !reader.take(/\s*(?=\||$)/y)) throw malformed(place);
  const change = makeChange(name, args);
  if (!change) throw malformed(place, 'uses a filter that is unknown or has wrong arguments');
  return { change, fault: `has a value that the filter ${name} cannot take` };
}

function readArguments(reader: Reader): Argument[] | undefined {
  const args: Argument[] = [];
  do {
    reader.take(/\s*/y);
    const argument = readArgument(reader);
    if (argument === undefined) return undefined;
    args.push(argument);
  } while (reader.take(/\s*,/y));
  return args;
}

function readArgument(reader: Reader): Argument | undefined {
  const text = reader.take(quoted);
  if (text) return unquote(text);
  const word = reader.take(/true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y)?.[0];
  if (word === undefined) return undefined;
  return word === 'true' || word === 'false' ? word === 'true' : Number(word);
}

function* evaluate(
  value: unknown,
  steps: readonly Step[],
  budget: Budget,
  place: string,
): Work<unknown> {
  let result = value;
  for (const { change, fault } of steps) {
    yield;
    result = yield* change(result, budget);
    if (result === undefined) throw malformed(place, fault);
  }
  return result;
}
