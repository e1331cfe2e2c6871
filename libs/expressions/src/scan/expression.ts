import { isShowableName, mayBeData, nearestName, Problem } from '@glovebox/problems';
import { type Budget, expressionBytesMax, filtersMax } from '../bounds/limits';
import type { Work } from '../bounds/time-slices';
import type { Argument } from '../filters/filter';
import { filters, makeChange, tellingFilters } from '../filters/filters';
import { missedAt, parseJsonPath, readSteps, valueAt, type JsonPath } from '../filters/json-path';
import type { AppliedFilter } from '../filters/whole-values';
import { quoted, Reader, unquote } from '../filters/reader';
import { isTokenId, normalTokenId } from './token-id';

/** The text between `{{` and `}}`: a token, and the filters that its value goes through. */
export interface Expression {
  /** The id of a token, or the root of a path. */
  readonly tokenId: string;
  /** The text that was read. Equal sources have equal results. */
  readonly source: string;
  /** Neither a filter nor a path: the value itself. */
  readonly isPlain: boolean;
  readonly filters: readonly AppliedFilter[];
  /** One of its filters reads the body that leaves. */
  readonly signsBody: boolean;
  evaluate(value: unknown, budget: Budget): Work<unknown>;
}

/**
 * The beginning of an expression: the id of a token; `data` or a path below it; or a path in the
 * document that is being changed, from its root `$` or from the changed place `@`.
 */
export type ExpressionRoot = 'token' | 'data' | 'place';

/**
 * Refuses the request by place and never echoes the text, which may be confidential, but for a name
 * in the place of a filter or a root. A place is a position, or a position at a path through a
 * document: `4 of a.b`.
 */
export function malformed(place: string, why = 'is not valid'): Problem {
  return new Problem('invalid_expression', {
    detail: `The expression at character ${place} ${why}.`,
  });
}

const malformedIn = (place: string, why: string): Problem =>
  new Problem('invalid_expression', { detail: `In the expression at character ${place}, ${why}` });

interface Step {
  readonly change: (value: unknown, budget: Budget) => Work<unknown>;
  /** Refuses a value that the step cannot take. */
  readonly refuse: (place: string, value: unknown, budget: Budget) => Problem;
  /** The expression of the value before the step, where the result tells that value. */
  readonly toldSource?: string | undefined;
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
  const start = root === 'token' ? readTokenId(reader) : readPath(reader, roots[root].begins);
  if (!start) throw root === 'token' ? malformed(place) : wrongRoot(source, place, roots[root]);
  const steps = [...start.steps];
  const stepsInAll = steps.length + filtersMax;
  const applied: AppliedFilter[] = [];
  while (!reader.isAtEnd) {
    if (steps.length === stepsInAll) {
      throw malformed(place, `has more than ${filtersMax} filters`);
    }
    const { filter, step } = readFilter(reader, place);
    applied.push(filter);
    steps.push(step);
  }
  return {
    tokenId: start.tokenId,
    source,
    isPlain: steps.length === 0,
    filters: applied,
    signsBody: applied.some(({ name }) => name === 'hmac_body'),
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

const roots = {
  data: { begins: /\s*(data)(?![\w-])/y, named: '`data`' },
  place: { begins: /\s*([$@])/y, named: '`$` or `@`' },
};

/** Excludes words that could be data: those of many digits, and those longer than names are. */
const tellableWord = /^\s*(?!\S*\d{4})([A-Za-z_]\w{0,19})(?=[\s.[|]|$)/;

function wrongRoot(
  source: string,
  place: string,
  { begins, named }: (typeof roots)[keyof typeof roots],
): Problem {
  if (new Reader(source).take(begins)) return malformed(place);
  const word = tellableWord.exec(source)?.[1];
  const isShown = word !== undefined && !mayBeData(word);
  const found = !isShown ? 'begins with something else' : `begins with \`${word}\``;
  return malformed(place, `${found}; expressions here begin with ${named}`);
}

function readPath(reader: Reader, root: RegExp): Start | undefined {
  const tokenId = reader.take(root)?.[1];
  if (tokenId === undefined) return undefined;
  const path = readSteps(reader);
  if (!path || !reader.take(/\s*(?=\||$)/y)) return undefined;
  const change: Step['change'] = (value, budget) => led(value, path, budget);
  const refuse: Step['refuse'] = (place, value, budget) =>
    malformed(
      place,
      missedAt(value, path, budget) === 'none' ? 'leads to no value' : 'leads to several values',
    );
  return { tokenId, steps: [{ change, refuse }] };
}

function* led(value: unknown, path: JsonPath, budget: Budget): Work<unknown> {
  yield;
  return valueAt(value, path, budget);
}

interface ReadFilter {
  readonly filter: AppliedFilter;
  readonly step: Step;
}

function readFilter(reader: Reader, place: string): ReadFilter {
  const { before } = reader;
  const name = reader.take(/\|\s*([a-z][a-z0-9_]*)\s*/y)?.[1];
  if (name === undefined) throw malformed(place);
  const args = reader.take(/:/y) ? readArguments(reader) : [];
  if (!args || !reader.take(/\s*(?=\||$)/y)) throw malformed(place);
  const filter = filters.get(name);
  if (!filter) throw noFilter(place, name);
  const change = makeChange(filter, args);
  if (!change) throw malformedIn(place, `the filter ${name} has wrong arguments.`);
  const [argument] = args;
  const path =
    name === 'json' && typeof argument === 'string' ? parseJsonPath(argument) : undefined;
  const toldSource = tellingFilters.has(name) ? before : undefined;
  return { filter: { name, args }, step: { change, refuse: refusing(name, path), toldSource } };
}

function noFilter(place: string, name: string): Problem {
  const shown = isShowableName(name) ? `\`${name}\` is no filter.` : 'a filter is unknown.';
  const nearest = nearestName(name, [...filters.keys()]);
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  return malformedIn(place, `${shown}${hint}`);
}

const refusing =
  (name: string, path: JsonPath | undefined): Step['refuse'] =>
  (place, value, budget) => {
    const missed = path && missedAt(value, path, budget);
    if (missed === undefined) {
      return malformed(place, `has a value that the filter ${name} cannot take`);
    }
    const what = missed === 'none' ? 'nothing' : 'several values';
    return malformedIn(place, `the path of \`${name}\` matches ${what}.`);
  };

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
  for (const { change, refuse, toldSource } of steps) {
    yield;
    const before = result;
    result = yield* change(before, budget);
    if (result === undefined) throw refuse(place, before, budget);
    if (toldSource !== undefined) budget.observers.onFiltered?.(toldSource, before);
  }
  return result;
}
